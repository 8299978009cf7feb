'use strict'

// The rows of the board, in order: exactly what the server's query returns. Events change this
// array first; the page then draws it.
let rows = []
let position = null
let source = null

const list = document.getElementById('tickets')
const template = document.getElementById('ticket')
const calm = matchMedia('(prefers-reduced-motion: reduce)')
const nextStage = { waiting: ['cooking', 'Start'], cooking: ['ready', 'Ready'], ready: [null, 'Serve'] }

// Events

// The browser connects again by itself, and sends the id of its last event. `after` is for a new
// EventSource, which has no such id.
function connect() {
  source?.close()
  source = new EventSource(position === null ? '/events' : `/events?after=${position}`)
  source.addEventListener('open', () => show('live'))
  source.addEventListener('snapshot', event => receive(event, takeSnapshot))
  source.addEventListener('change', event => receive(event, takeChanges))
  source.addEventListener('error', () => {
    show('connecting')
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 1000)
  })
}

function receive(event, take) {
  try {
    take(JSON.parse(event.data))
    position = event.lastEventId
  } catch (error) {
    // The event does not fit the rows, so the file is another one. Begin with the whole board.
    console.warn(error)
    position = null
    connect()
  }
}

function show(state) {
  const connection = document.getElementById('connection')
  connection.dataset.state = state
  connection.textContent = state === 'live' ? 'live' : 'connecting again'
}

function takeSnapshot({ tickets, path }) {
  const elements = new Map(rows.map(row => [row.key, row.element]))
  const isFirst = rows.length === 0
  rows = tickets.map(record => ({ key: record.id, record, element: elements.get(record.id) }))
  document.body.dataset.path = path
  draw(new Set(rows.map(row => row.key)), isFirst)
}

function takeChanges({ programs, changes }) {
  const { deletions, insertions, moves, updates, refreshes, oldCount, newCount } = changes
  const check = (index, key) => {
    if (rows[index]?.key !== key) throw new Error(`Row ${index} is not ticket ${key}.`)
  }
  if (rows.length !== oldCount) throw new Error(`There are ${rows.length} rows, not ${oldCount}.`)
  for (const { index, key } of deletions) check(index, key)
  for (const { oldIndex, key } of moves) check(oldIndex, key)

  // 1. Remove the rows that left and that moved, by their old indices.
  const left = new Set([...deletions.map(row => row.index), ...moves.map(row => row.oldIndex)])
  const old = rows
  rows = old.filter((_, index) => !left.has(index))
  // 2. Insert the rows that came and that moved, by ascending new index.
  const arriving = [
    ...insertions.map(row => [row.index, { key: row.key, record: row.record }]),
    ...moves.map(row => [row.newIndex, { ...old[row.oldIndex], record: row.record }])
  ].sort((a, b) => a[0] - b[0])
  for (const [index, row] of arriving) rows.splice(index, 0, row)
  // 3. Replace the rows that have other fields, by their new indices.
  for (const { newIndex, key, record } of [...updates, ...refreshes]) {
    check(newIndex, key)
    rows[newIndex].record = record
  }
  if (rows.length !== newCount) throw new Error(`There are ${rows.length} rows, not ${newCount}.`)

  log(programs, changes, old)
  draw(new Set(arriving.map(([, row]) => row.key)))
}

// Drawing

let waiting = null

// Draws once per frame, however many events arrive. A hidden page gets no frames, and needs none.
function draw(arrived, isFirst = false) {
  if (waiting) {
    for (const key of arrived) waiting.arrived.add(key)
    waiting.isFirst ||= isFirst
  } else {
    waiting = { arrived, isFirst }
    if (document.hidden) drawNow()
    else requestAnimationFrame(drawNow)
  }
}

document.addEventListener('visibilitychange', () => { if (waiting) drawNow() })

function drawNow() {
  if (!waiting) return
  const { arrived, isFirst } = waiting
  waiting = null
  const isAnimated = !calm.matches && !document.hidden && !isFirst
  const shown = [...list.children].filter(element => !('leaving' in element.dataset))
  const tops = new Map(shown.map(element => [element, isAnimated ? element.offsetTop : 0]))
  const focused = list.contains(document.activeElement) ? document.activeElement : null

  const staying = new Set()
  for (const row of rows) {
    row.element ??= makeElement(row.key)
    fill(row.element, row.record)
    staying.add(row.element)
  }
  for (const element of shown) {
    if (!staying.has(element)) leave(element, tops.get(element), isAnimated)
    else if (arrived.has(Number(element.dataset.key))) element.remove()
  }
  // Rows that neither came nor moved are in order already, so they are not touched here.
  let after = null
  for (const { element } of [...rows].reverse()) {
    if (element.nextElementSibling !== after || element.parentNode !== list) {
      list.insertBefore(element, after)
    }
    after = element
  }
  if (focused) keepFocus(focused, shown)
  if (isAnimated) for (const { element } of rows) move(element, tops.get(element))

  document.getElementById('count').textContent = rows.length
  document.getElementById('empty').hidden = rows.length > 0
  if (rows.length > 0) {
    const { id, isUrgent } = rows[rows.length - 1].record
    document.getElementById('command').textContent =
      `storecli update Ticket ${id} isUrgent=${!isUrgent} -d ${document.body.dataset.path}`
  }
}

// A row that moved keeps the focus; from a row that left it goes to the row in its place.
function keepFocus(focused, shown) {
  const row = focused.closest('li')
  const index = Math.min(shown.indexOf(row), rows.length - 1)
  const target = 'leaving' in row.dataset || !row.isConnected
    ? rows[index]?.element.querySelector('.next') : focused
  if (target && document.activeElement !== target) target.focus({ preventScroll: true })
}

// From where it was to where it is; a row that is new fades in.
function move(element, oldTop) {
  const timing = { duration: 380, easing: 'cubic-bezier(.2, .8, .2, 1)' }
  if (oldTop === undefined) {
    element.animate([{ opacity: 0, transform: 'scale(.96)' }, { opacity: 1, transform: 'none' }], timing)
  } else if (oldTop !== element.offsetTop) {
    element.animate(
      [{ transform: `translateY(${oldTop - element.offsetTop}px)` }, { transform: 'none' }], timing)
  }
}

function leave(element, top, isAnimated) {
  if (!isAnimated) return element.remove()
  element.dataset.leaving = ''
  element.style.top = `${top}px`
  list.prepend(element)
  element.inert = true
  element.animate([{ opacity: 1 }, { opacity: 0, transform: 'translateX(2rem)' }], 240)
    .finished.finally(() => element.remove())
}

function makeElement(key) {
  const element = template.content.firstElementChild.cloneNode(true)
  element.dataset.key = key
  element.querySelector('.urgent').addEventListener('click', () =>
    change(element, { isUrgent: element.dataset.urgent !== 'true' }))
  element.querySelector('.next').addEventListener('click', () => {
    const [stage] = nextStage[element.dataset.stage]
    change(element, stage ? { stage } : null)
  })
  return element
}

function fill(element, { id, dish, tableNumber, portions, stage, isUrgent }) {
  const isUpdate = 'stage' in element.dataset
    && (element.dataset.stage !== stage || element.dataset.urgent !== String(isUrgent))
  element.dataset.stage = stage
  element.dataset.urgent = isUrgent
  element.querySelector('.dish').textContent = portions > 1 ? `${portions} × ${dish}` : dish
  element.querySelector('.where').textContent = `Ticket ${id}, table ${tableNumber}`
  element.querySelector('.stage').textContent = stage
  const urgent = element.querySelector('.urgent')
  urgent.setAttribute('aria-pressed', isUrgent)
  urgent.setAttribute('aria-label', `Urgent: ${dish}`)
  const next = element.querySelector('.next')
  next.textContent = nextStage[stage][1]
  next.setAttribute('aria-label', `${nextStage[stage][1]}: ${dish}`)
  if (isUpdate) {
    element.querySelector('.refusal').textContent = ''
    if (!calm.matches) {
      element.animate([{ backgroundColor: 'var(--flash)' }, {}], { duration: 900, easing: 'ease-out' })
    }
  }
}

// What each commit changed, in the words of the event.
function log(programs, changes, old) {
  const lines = [
    ...changes.deletions.map(row => ['deletion', `− ${row.index}`, old[row.index].record.dish]),
    ...changes.insertions.map(row => ['insertion', `+ ${row.index}`, row.record.dish]),
    ...changes.moves.map(row => ['move', `${row.oldIndex} → ${row.newIndex}`, row.record.dish]),
    ...changes.updates.map(row => [
      'update', `${row.newIndex} ${row.fields.length > 1 ? 'fields' : row.fields[0]}`,
      row.fields.map(field => `${field} = ${row.record[field]}`).join(', ')])
  ]
  const who = programs.length > 0 ? `by ${programs.join(', ')}` : 'while this page was away'
  const target = document.getElementById('changes')
  for (const [kind, index, text] of lines.slice(0, 8)) {
    const line = document.createElement('li')
    const mark = document.createElement('span')
    mark.className = 'kind'
    mark.dataset.kind = kind
    mark.textContent = kind === 'update' ? `${index.split(' ')[0]} updated` : index
    const body = document.createElement('span')
    const origin = document.createElement('small')
    origin.textContent = who
    body.append(text, origin)
    line.append(mark, body)
    target.prepend(line)
  }
  while (target.children.length > 12) target.lastElementChild.remove()
}

// Writes

async function send(method, path, content) {
  try {
    const response = await fetch(path, {
      method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(content)
    })
    if (response.ok) return null
    const answer = await response.json()
    return { message: answer.message ?? answer.error?.message, fields: answer.fields ?? {} }
  } catch {
    return { message: 'The server does not answer. Try again.', fields: {} }
  }
}

// Changes fields of a ticket; without fields, serves it.
async function change(element, fields) {
  const refusal = await send(
    fields ? 'PATCH' : 'DELETE', `/tickets/${element.dataset.key}`, fields ?? {})
  element.querySelector('.refusal').textContent = refusal
    ? Object.entries(refusal.fields).map(([field, texts]) => `${field} ${texts.join(', ')}`).join('; ')
      || refusal.message
    : ''
}

document.getElementById('new').addEventListener('submit', async event => {
  event.preventDefault()
  const form = event.target
  const number = name => form.elements[name].value === '' ? null : Number(form.elements[name].value)
  const refusal = await send('POST', '/tickets', {
    dish: form.elements.dish.value, tableNumber: number('tableNumber'),
    portions: number('portions'), isUrgent: form.elements.isUrgent.checked
  })
  let hasField = false
  for (const name of ['dish', 'tableNumber', 'portions', 'isUrgent']) {
    const texts = refusal?.fields[name] ?? []
    document.getElementById(`${name}-error`).textContent = texts.join(', ')
    form.elements[name].setAttribute('aria-invalid', texts.length > 0)
    if (texts.length > 0 && !hasField) form.elements[name].focus()
    hasField ||= texts.length > 0
  }
  document.getElementById('form-error').textContent = refusal && !hasField ? refusal.message : ''
  if (!refusal) {
    form.reset()
    form.elements.dish.focus()
  }
})

document.getElementById('undo').addEventListener('click', async () => {
  const refusal = await send('POST', '/undo', {})
  document.getElementById('refusal').textContent = refusal?.message ?? ''
})

document.getElementById('copy').addEventListener('click', async event => {
  await navigator.clipboard.writeText(document.getElementById('command').textContent)
  event.target.textContent = 'Copied'
  setTimeout(() => { event.target.textContent = 'Copy' }, 1500)
})

connect()
