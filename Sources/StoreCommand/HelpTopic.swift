/// The topics of `storecli help` that are not commands.
enum HelpTopic: String, CaseIterable {
  case options
  case exitCodes = "exit-codes"
  case environment
  case formats
  case predicates

  /// The topic that the words after `help` name, or nil.
  init?(words: [String]) {
    guard words.count == 1 else { return nil }
    self.init(rawValue: words[0])
  }

  var text: String {
    switch self {
    case .options: Self.optionsText
    case .exitCodes:
      ExitCode.allCases.map { code in
        let number = String(code.rawValue)
        return String(repeating: " ", count: 3 - number.count) + number + "  " + code.summary
      }
      .joined(separator: "\n")
    case .environment: Self.environmentText
    case .formats: Self.formatsText + "\n\n" + Self.changesText
    case .predicates: Self.predicatesText
    }
  }

  private static let optionsText =
    """
    Every command takes these options, before or after its name.

    Where the database is:
      -d, --db <path>        The database file. Without it: STORECLI_DB, then storecli.toml;
                             see storecli help environment.
      --shared-with-group    All members of the file's group share the database: accept files
                             that they create.

    How to write the result; see storecli help formats:
      -o, --output <format>  table, plain, json, ndjson, csv, tsv, yaml, md or sql.
      --json                 Short for -o json. Errors are JSON, too.
      --ndjson               Short for -o ndjson. Errors are JSON, too.
      --csv                  Short for -o csv.
      --fields <a,b>         Only these fields, in this order. Put a name that contains a comma
                             in double quotes.
      -0, --nul              Plain output with values as stored, each with a NUL behind it.
      --header               Begin plain output with the column names.
      --escape-formulas      In csv, tsv and plain, write an apostrophe before text that begins
                             like a formula.
      --color <when>         always, never or auto.
      --no-pager             Print long output at once, without a pager.

    How much to say:
      -q, --quiet            Print data and errors only.
      -v, --verbose          Also print which database was found and what is run.
      -h, --help             Show the help of a command.

    Commands that change the file also take:
      -n, --dry-run          Report what would change, or why it would be refused, and change
                             nothing.
      --busy-timeout <seconds>
                             How long to wait for another writer; 5 seconds by default.
      --skip-code-validators
                             Write although validators in Swift exist that this program cannot
                             run. Only for commands that change records.
    """

  private static let environmentText =
    """
    The database is the first that is named by
      -d, --db PATH
      STORECLI_DB
      db = "PATH" in the nearest storecli.toml, from the current directory up to the
        root of the repository; the path counts from that file
      db = "PATH" in $XDG_CONFIG_HOME/storecli/config.toml (~/.config when not set)
    Reading never creates a database. -v prints which of them was used.

    The migrations are the files in the directory that is named by --migrations, else by
    migrations = "PATH" in the nearest storecli.toml, else in Migrations beside that file, or in
    the current directory.

    A configuration file must belong to you or root, and other users must not be able to write
    it or its directory. Otherwise storecli stops and says what to change; -d and STORECLI_DB
    read no configuration file. Beside db, sharing = "group" does what --shared-with-group does:
    all members of the file's group may use the database.

    STORECLI_LEDGER is the connection to the ledger of a shared store in PostgreSQL, such as
      postgresql://app@db/app or service=music; else ledger = "CONNECTION" beside db. A member
      of a shared store can only be written with it. Keep the password in ~/.pgpass.
    STORECLI_MIRROR is the connection to the PostgreSQL database of storecli mirror. Without it,
      a mirror is in the database of the ledger.

    Colour, the first that applies:
      --color always|never, NO_COLOR, STORECLI_NO_COLOR, CLICOLOR_FORCE or FORCE_COLOR,
      CLICOLOR=0, TERM=dumb, and otherwise where the stream is a terminal
    COLUMNS sets the width of tables and help on a terminal.

    On a terminal, help, models, history and tables that are longer than the screen open in a
    pager: STORECLI_PAGER, else PAGER, else less -FIRX. --no-pager, or an empty variable, prints
    them at once.

    update --edit opens VISUAL, else EDITOR, else vi.

    STORECLI_VALUE_MAX is the largest text or blob in bytes that a command reads or writes,
      67108864 (64 MiB) when not set. A command takes up to eight times as much memory for a
      value. A larger value is an error that names its field and record.

    XDG_STATE_HOME is where shell keeps your inputs, in storecli/history; ~/.local/state when not
      set. Only you can read the file.

    TMPDIR is where import keeps what comes from a pipe until all of it was read, and the keys
      of the records that --replace keeps; and where demo makes its store. /tmp when not set.
    """

  /// The formats of records.
  private static let formatsText =
    """
    -o table   aligned columns; the default on a terminal
    -o plain   tab-separated, no header unless --header; the default in a pipe
    -o json    one array of objects               (--json)
    -o ndjson  one object on a line                (--ndjson)
    -o csv     RFC 4180 with a header              (--csv)
    -o tsv     tab-separated with a header, backslash escapes, \\N for null
    -o yaml    a list of mappings
    -o md      a Markdown table
    -o sql     an INSERT statement for each record; query, get and export only
    -0         plain values as stored, each with a NUL behind it, for xargs -0; a text with a
               NUL is refused

    Dates are ISO-8601 in UTC; an adopted column of text keeps its form, and export leaves dates
    that another program keeps as numbers as they are. In JSON, integers keep all 64 bits and a
    blob is
    {"$base64": "…"}; a table shows its length; elsewhere it is base64. CSV distinguishes empty
    text ("") from null (nothing).

    -o sql restores records exactly in a table with the same columns: blobs, infinities, texts
    with a NUL, and every bit of a real. It leaves out columns that the database computes.

    On a terminal, csv, tsv and plain spell out control characters and those that reorder text:
    \\u{1b}. In a pipe or file they are as stored. JSON and YAML always escape them: \\u001b.

    A spreadsheet runs CSV text that begins with = + - or @ as a formula. --escape-formulas
    writes an apostrophe before such text, and before text that begins with an apostrophe;
    import --unescape-formulas removes it again.

    An export to CSV or TSV is refused for a value that import would read as another one, such
    as a number beside texts in a column without a type. A table adopted while it was empty
    counts: it would read the text true in a BOOLEAN column as 1. A column without a type that
    holds numbers only is exported, and such a table reads them as texts. In JSON an infinite
    number is 9e999 or -9e999, as in SQL; import reads that back. An export to JSON writes a value
    that does not fit its field's type or declared type, such as text among dates, as
    {"$stored": …}; import stores it as it is.

    A file of rejects begins each record with its place in the input and the reason, as the
    columns or members $line and $reason. import ignores these two. FILE.gz and FILE.zst are read
    through gzip and zstd; to write them, pipe the export through these programs.

    import reads {"$base64": "…"} in an adopted column of JSON as a blob. Write JSON text of that
    shape as a string. For booleans and numbers of adopted tables it reads texts in JSON as in
    CSV, and 0 and 1 as false and true.
    """

  /// The formats of changes.
  private static let changesText =
    """
    What a write changed is one line for each record and origin. With --ndjson:
      {"op":"update","model":"Track","id":1,"changes":{"title":{"old":"a","new":"b"}},"origin":"user"}
    origin is user, binding:NAME, cascade or trigger:NAME; id is the key, an array where it
    has several fields; inserts have only new, deletes only old, of every field. The changes of a
    binding or trigger also have their cause:
      "cause":{"op":"update","model":"Artist","id":2,"fields":["name"]}

    A line of watch, and of history with --ndjson:
      {"position":88214,"txn":"4zsx2q","time":"2026-09-01T12:30:00.000000Z",
       "actor":{"program":"myapp","pid":4121,"author":null,"tag":null},"op":"update",
       "model":"Track","id":1,"changes":{"title":{"old":"a","new":"b"}},"origin":"app"}
    position is null without a journal; txn, time and actor are null for programs that do not use
    ModelStore. A watch with --sort or --limit follows the result and not the journal: position,
    txn and actor are null then, and origin is foreign. origin is cli, app or foreign, or binding:NAME for the update of a bound field
    that follows a change of its source in the same transaction. history names a binding only
    while it exists. watch adds index {"from","to"}
    if it follows a result, and entered and left if you pass a predicate: a record that begins to
    meet it is an insert, and a record that stops meeting it is a delete, although the record is
    there before and after.
    """

  private static let predicatesText =
    """
    A predicate is a condition over the fields of one model, in SQL's own words:
      =  ==  !=  <>  <  <=  >  >=      comparison; == null and != null ask about null
      is, is not                       comparison in which null is a value like others
      [not] in (…)                     one of a list
      [not] between … and …            a range, both ends included
      [not] like '…', [not] glob '…'   patterns: % and _, or * ? [a-z]
      and &&   or ||   not !   ( )
    Values: 12  1.5  'it''s'  x'0aff'  true  false  null  today  now
    Write field names bare or in "double quotes", and text in 'single quotes'. A boolean field
    alone is a predicate. An unknown field name is an error, never text. There are no functions
    and no arithmetic; use query --sql.

    A comparison with null is unknown, and only records for which the condition is true are
    selected, as in SQL. Dates are read as ISO-8601: due < '2026-09-01'.

    Examples:
      storecli query Track --where 'milliseconds > 300000 and not composer is null'
      storecli query Album "title like 'So%' or artistID in (1, 2)" --sort title
      storecli update Track --where 'plays = 0' rating:null

    query, export, hash and watch take the predicate also as the word after the model.
    """
}
