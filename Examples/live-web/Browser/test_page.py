#!/usr/bin/env python3
"""Tests the page in a real browser: what it shows is what SQL returns, in order.

usage: test_page.py SERVER STORECLI CHROMIUM [--writes N] [--cuts N] [--seed N] [--pictures DIR]
"""

import argparse
import os
import random
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import traceback

from devtools import LIMIT, Browser, Proxy, wait

BOARD = """
  SELECT id, dish, tableNumber, portions, stage, isUrgent FROM Ticket
  ORDER BY isUrgent DESC, id
"""
SHOWN = """
  [...document.querySelectorAll('#tickets > li:not([data-leaving])')].map(row => [
    Number(row.dataset.key), row.querySelector('.dish').textContent,
    row.querySelector('.where').textContent, row.querySelector('.stage').textContent,
    row.querySelector('.urgent').getAttribute('aria-pressed') === 'true'])
"""


class Kitchen:
    """A server of a new store, a browser, and other programs that write."""

    def __init__(self, options):
        self.options = options
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "kitchen.store")
        self.start()
        self.sql = sqlite3.connect(self.path, isolation_level=None, timeout=LIMIT)
        self.sql.execute("PRAGMA synchronous = NORMAL")
        self.browser = Browser(options.chromium)
        self.tabs = []

    def start(self):
        self.server = subprocess.Popen(
            [self.options.server, self.path, "0"], stdout=subprocess.PIPE, text=True
        )
        ready, _, _ = select.select([self.server.stdout], [], [], LIMIT)
        self.url = self.server.stdout.readline().strip() if ready else ""
        assert self.url.startswith("http://"), "The server did not start."
        self.port = int(self.url.rsplit(":", 1)[1])

    def end(self, server):
        """Sends SIGTERM, and expects an end in order."""
        server.send_signal(signal.SIGTERM)
        rest, _ = server.communicate(timeout=LIMIT)
        assert server.returncode == 0 and rest == "closed\n", "The server did not end in order."

    def open(self, url=None):
        tab = self.browser.open(url or self.url)
        tab.show(1200, 900)
        self.tabs.append(tab)
        self.follow(tab)
        return tab

    def board(self):
        return [
            [
                key, f"{portions} × {dish}" if portions > 1 else dish,
                f"Ticket {key}, table {table}", stage, bool(urgent),
            ]
            for key, dish, table, portions, stage, urgent in self.sql.execute(BOARD)
        ]

    def follow(self, *tabs):
        """Waits until each page shows what SQL returns."""
        for tab in tabs or self.tabs:
            wait("the page shows the board", lambda: tab.run(SHOWN) == self.board())

    def storecli(self, *words):
        subprocess.run(
            [self.options.storecli, *words, "-d", self.path],
            check=True, stdout=subprocess.DEVNULL, timeout=LIMIT,
        )

    def write(self, numbers):
        """One random commit, of which rules may refuse some."""
        keys = [key for key, *_ in self.sql.execute(BOARD)]
        key = numbers.choice(keys)
        kind = numbers.randrange(6)
        try:
            if kind == 0 and len(keys) > 4 or len(keys) > 24:
                self.sql.execute("DELETE FROM Ticket WHERE id = ?", (key,))
            elif kind == 1:
                self.sql.execute("UPDATE Ticket SET isUrgent = 1 - isUrgent WHERE id = ?", (key,))
            elif kind == 2:
                stage = numbers.choice(["waiting", "cooking", "ready"])
                self.sql.execute("UPDATE Ticket SET stage = ? WHERE id = ?", (stage, key))
            elif kind == 3:
                self.sql.execute(
                    "UPDATE Ticket SET portions = ? WHERE id = ?", (numbers.randint(1, 14), key)
                )
            elif kind == 4:
                # A change of key is a deletion and an insertion.
                self.sql.execute(
                    "UPDATE Ticket SET id = ? WHERE id = ?", (numbers.randint(1, 10**6), key)
                )
            else:
                self.sql.execute(
                    "INSERT INTO Ticket (dish, tableNumber, isUrgent) VALUES (?, ?, ?)",
                    (f"Dish {numbers.randint(1, 99)}", numbers.randint(1, 31), numbers.randrange(2)),
                )
            return 1
        except sqlite3.IntegrityError:
            return 0

    def close(self):
        self.browser.close()
        self.sql.close()
        self.end(self.server)
        self.folder.cleanup()


def snapshots(tab):
    return sum(
        event["eventName"] == "snapshot"
        for event in tab.named("Network.eventSourceMessageReceived")
    )


def test_two_pages_follow_storecli(kitchen):
    tabs = [kitchen.open(), kitchen.open()]
    kitchen.storecli("update", "Ticket", "6", "isUrgent=true")
    kitchen.follow()
    kitchen.storecli("insert", "Ticket", "dish=Polenta", "tableNumber=3")
    kitchen.storecli("delete", "Ticket", "1")
    kitchen.follow()
    for tab in tabs:
        log = tab.run("document.getElementById('changes').innerText")
        assert "5 → 0" in log and "by storecli" in log, log


def test_the_shown_line_works(kitchen):
    tab = kitchen.open()
    words = tab.run("document.getElementById('command').textContent").split()
    assert words[0] == "storecli" and words[-2] == "-d", words
    kitchen.storecli(*words[1:-2])
    kitchen.follow()
    assert kitchen.board()[0][4], kitchen.board()


def test_random_writes(kitchen):
    tabs = [kitchen.open(), kitchen.open()]
    numbers = random.Random(kitchen.options.seed)
    count = 0
    while count < kitchen.options.writes:
        count += kitchen.write(numbers)
        if count % 500 == 0:
            kitchen.follow()
    kitchen.follow()
    assert [snapshots(tab) for tab in tabs] == [1, 1], "A page needed the whole board again."


def test_cut_connections(kitchen):
    proxy = Proxy(kitchen.port)
    tab = kitchen.open(f"http://127.0.0.1:{proxy.port}")
    numbers = random.Random(kitchen.options.seed)
    for _ in range(kitchen.options.cuts):
        for _ in range(numbers.randint(0, 5)):
            kitchen.write(numbers)
        assert proxy.cut() > 0
        for _ in range(numbers.randint(0, 5)):
            kitchen.write(numbers)
        wait("the page connects again", lambda: proxy.open)
    kitchen.follow()
    assert snapshots(tab) == 1, "A cut page received the whole board."


def test_rolling_restart(kitchen):
    proxy = Proxy(kitchen.port)
    tab = kitchen.open(f"http://127.0.0.1:{proxy.port}")
    numbers = random.Random(kitchen.options.seed)
    for _ in range(3):
        old = kitchen.server
        kitchen.start()
        proxy.target = kitchen.port
        kitchen.write(numbers)
        # The page follows the old process until it ends, then continues at the new one.
        kitchen.follow()
        kitchen.end(old)
        kitchen.write(numbers)
        kitchen.follow()
    assert snapshots(tab) == 1, "A page received the whole board after a restart."


def test_violations_at_their_fields(kitchen):
    tab = kitchen.open()

    def errors():
        return tab.run(
            "['dish', 'tableNumber', 'portions', 'isUrgent']"
            ".filter(name => document.getElementById(name + '-error').textContent !== '')"
        )

    def fill(**values):
        for name, value in values.items():
            tab.run(f"document.getElementById('new').elements.{name}.value = '{value}'")
        tab.run("document.getElementById('new').elements.dish.focus()")
        tab.press("Enter", "\r")

    fill(dish="", tableNumber="", portions="13")
    wait("three fields have errors", lambda: errors() == ["dish", "tableNumber", "portions"])
    fill(dish="Onion soup", tableNumber="9", portions="1")
    wait("the unique rule names its fields", lambda: errors() == ["dish", "tableNumber"])
    assert tab.run("document.activeElement.name") == "dish"
    fill(dish="Polenta", tableNumber="9", portions="2")
    wait("no field has an error", lambda: errors() == [] and len(kitchen.board()) == 8)
    kitchen.follow()


def test_keyboard_and_focus(kitchen):
    tab = kitchen.open()
    tab.run("document.querySelector('[data-key=\"5\"] .urgent').focus()")
    tab.press(" ", " ")
    wait("ticket 5 is first", lambda: kitchen.board()[0][0] == 5)
    kitchen.follow()
    focused = "document.activeElement.closest('li')?.dataset.key"
    assert tab.run(focused) == "5", "A row that moves keeps the focus."
    tab.run("document.querySelector('[data-key=\"1\"] .next').focus()")
    tab.press("Enter", "\r")
    wait("ticket 1 is served", lambda: 1 not in [row[0] for row in kitchen.board()])
    kitchen.follow()
    assert tab.run(focused) == "2", "The focus goes to the row in its place."


def test_motion(kitchen):
    tab = kitchen.open()
    tab.run(
        "window.count = 0; const animate = Element.prototype.animate;"
        "Element.prototype.animate = function (...words) {"
        " window.count += 1; return animate.apply(this, words) }"
    )
    kitchen.storecli("update", "Ticket", "7", "isUrgent=true")
    kitchen.follow()
    assert tab.run("window.count") > 0, "Rows that move are animated."
    tab.show(1200, 900, motion="reduce")
    tab.run("window.count = 0")
    kitchen.storecli("update", "Ticket", "7", "isUrgent=false")
    kitchen.storecli("delete", "Ticket", "7")
    kitchen.follow()
    assert tab.run("window.count") == 0, "Nothing moves for those who prefer that."


def test_own_files_only(kitchen):
    tab = kitchen.open()
    tab.run("document.getElementById('undo').click()")
    kitchen.follow()
    requests = [event["request"]["url"] for event in tab.named("Network.requestWillBeSent")]
    assert len(requests) > 3 and all(url.startswith(kitchen.url) for url in requests), requests
    assert tab.named("Log.entryAdded") == [] and tab.named("Runtime.exceptionThrown") == []
    refused = tab.run("document.body.insertAdjacentHTML('beforeend',"
                      " '<p id=inline style=\"color: red\">'); document.getElementById('inline').style.color")
    assert tab.named("Log.entryAdded") != [], f"The policy refuses inline styles: {refused}"


def test_widths(kitchen):
    tab = kitchen.open()
    for width in (320, 390, 700, 1000, 1600):
        tab.show(width, 900)
        sizes = tab.run("[document.scrollingElement.scrollWidth, innerWidth]")
        assert sizes[0] <= sizes[1], f"{width}: {sizes}"


def take_pictures(kitchen, folder):
    tab = kitchen.open()
    os.makedirs(folder, exist_ok=True)
    kitchen.storecli("update", "Ticket", "4", "stage=cooking")
    kitchen.storecli("insert", "Ticket", "dish=Saffron polenta", "tableNumber=3")
    kitchen.storecli("update", "Ticket", "6", "isUrgent=true")
    kitchen.follow()
    for name, width, height in (("wide", 1200, 860), ("narrow", 390, 1600)):
        for scheme in ("light", "dark"):
            tab.show(width, height, scheme)
            tab.run("Promise.all(document.getAnimations().map(animation => animation.finished))")
            tab.screenshot(os.path.join(folder, f"{name}-{scheme}.png"))


def main():
    parser = argparse.ArgumentParser()
    for name in ("server", "storecli", "chromium"):
        parser.add_argument(name)
    parser.add_argument("--writes", type=int, default=10000)
    parser.add_argument("--cuts", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--pictures")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    tests = [
        (name, test) for name, test in globals().items()
        if name.startswith("test_") and options.only in name
    ]
    if options.pictures:
        tests.append(("pictures", lambda kitchen: take_pictures(kitchen, options.pictures)))
    failures = 0
    for name, test in tests:
        kitchen = Kitchen(options)
        try:
            try:
                test(kitchen)
            finally:
                kitchen.close()
            print(f"passed  {name}", flush=True)
        except Exception:
            failures += 1
            traceback.print_exc()
            print(f"FAILED  {name}", flush=True)
    print(f"{len(tests) - failures} passed, {failures} failed")
    sys.exit(1 if failures else 0)


main()
