import RivuletArguments
import Testing

private let program = CommandSpec(
    "sea", summary: "Sails.", version: "1.2",
    subcommands: [
        CommandSpec(
            "go", summary: "Goes somewhere.",
            discussion:
                "It takes as long as it takes, and sometimes a little longer, as every captain knows well.",
            options: [
                Option(
                    "--port", "-p", value: "PORT", default: "23000", environment: "SEA_PORT",
                    help: "The port."),
                Option("--crew", "-c", value: "NAME", isRepeated: true, help: "Who comes along."),
                Option("--fast", "-f", help: "Hurry."),
                Option("--loud", "-l", help: "Shout."),
                Option("--ship", value: "NAME", isRequired: true, help: "The ship."),
                Option("--wait", value: "TIME", help: "How long to wait."),
            ],
            positionals: [
                Positional("FROM", help: "Where it starts."),
                Positional("TO", isRequired: false, isRepeated: true, help: "Where it goes."),
            ]),
        CommandSpec("stay", summary: "Stays."),
        CommandSpec(
            "log", summary: "Keeps the log.", subcommands: [CommandSpec("show", summary: "Shows it.")]),
    ])

private func run(_ words: [String], environment: [String: String] = [:]) -> Arguments? {
    guard case .run(let arguments) = program.parse(words, environment: environment) else { return nil }
    return arguments
}

private func refusal(_ words: [String]) -> String? {
    guard case .refuse(let text) = program.parse(words, environment: [:]) else { return nil }
    return text.split(separator: "\n").first.map(String.init)
}

struct ArgumentsTests {
    @Test func `Options are read in every form`() throws {
        let arguments = try #require(
            run([
                "go", "--port=1", "-c", "Ann", "-cBob", "--crew", "Cy", "-fl", "--ship", "Argo", "here", "a",
                "-",
            ]))
        #expect(arguments.path == ["sea", "go"])
        #expect(try arguments.value("--port", as: UInt16.self) == 1)
        #expect(arguments.strings("--crew") == ["Ann", "Bob", "Cy"])
        #expect(arguments.flag("--fast") && arguments.flag("--loud"))
        #expect(arguments.string("FROM") == "here")
        #expect(arguments.strings("TO") == ["a", "-"])
    }

    @Test func `Everything after two dashes is positional`() throws {
        let arguments = try #require(run(["go", "--ship=x", "--", "--port", "--help"]))
        #expect(arguments.string("FROM") == "--port")
        #expect(arguments.strings("TO") == ["--help"])
    }

    @Test func `What was given wins over the environment, and that over the default`() throws {
        let base = ["go", "--ship=x", "here"]
        #expect(run(base)?.string("--port") == "23000")
        #expect(run(base, environment: ["SEA_PORT": "5"])?.string("--port") == "5")
        #expect(run(base, environment: ["SEA_PORT": ""])?.string("--port") == "23000")
        #expect(run(base + ["-p", "6"], environment: ["SEA_PORT": "5"])?.string("--port") == "6")
    }

    @Test func `Negative numbers are values and positionals, not options`() throws {
        let arguments = try #require(run(["go", "--ship", "-1", "-2.5"]))
        #expect(arguments.string("--ship") == "-1")
        #expect(arguments.string("FROM") == "-2.5")
    }

    @Test(arguments: [
        (["fly"], "sea: unknown command fly"),
        (["lgo"], "sea: unknown command lgo; did you mean log?"),
        (["stya"], "sea: unknown command stya; did you mean stay?"),
        (["--fast"], "sea: unknown option --fast"),
        (["go", "--prot", "1"], "sea: unknown option --prot; did you mean --port?"),
        (["go", "-x"], "sea: unknown option -x"),
        (["go", "--port"], "sea: --port needs a value"),
        (["go", "--port", "--fast"], "sea: --port needs a value"),
        (["go", "--fast=yes"], "sea: --fast takes no value"),
        (["go", "--ship=x", "--ship=y", "a"], "sea: --ship is given twice"),
        (["go", "a"], "sea: --ship is missing"),
        (["go", "--ship", "x"], "sea: FROM is missing"),
        (["stay", "here"], "sea: unexpected argument 'here'"),
        (
            ["go", "--" + String(repeating: "x", count: 50)],
            "sea: unknown option --" + String(repeating: "x", count: 50)
        ),
    ])
    func `A wrong call is refused with a reason`(_ words: [String], _ expected: String) {
        #expect(refusal(words) == expected)
    }

    @Test func `A value of the wrong type is refused and its source named`() throws {
        let arguments = try #require(run(["go", "--ship=x", "a", "--port=70000", "--wait=soon"]))
        let port = #expect(throws: UsageError.self) { try arguments.value("--port", as: UInt16.self) }
        #expect(port?.message == "--port: '70000' is not a number from 0 to 65535")
        let wait = #expect(throws: UsageError.self) { try arguments.value("--wait", as: Duration.self) }
        #expect(wait?.message == "--wait: 'soon' is not a time such as 500ms, 30s, 5m, 2h or 7d")
        let fromEnvironment = try #require(run(["go", "--ship=x", "a"], environment: ["SEA_PORT": "no"]))
        let error = #expect(throws: UsageError.self) { try fromEnvironment.value("--port", as: UInt16.self) }
        #expect(
            error?.message.hasPrefix("--port, from the environment variable SEA_PORT: 'no' is not") == true)
    }

    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("30s", .seconds(30)), ("30", .seconds(30)),
        ("5m", .seconds(300)),
        ("2h", .seconds(7200)), ("7d", .seconds(604_800)), ("0", .zero),
    ])
    func `Times are read with their units`(_ text: String, _ expected: Duration) {
        #expect(Duration(argument: text) == expected)
    }

    @Test(arguments: ["", "s", "-1s", "1.5s", "1 s", "99999999999999999999", "10000000000000d", "١s"])
    func `Text that is no time is refused`(_ text: String) {
        #expect(Duration(argument: text) == nil)
    }

    @Test func `Without a command the help is an error, with help it is the answer`() {
        guard case .refuse(let refused) = program.parse([], environment: [:]),
            case .print(let printed) = program.parse(["--help"], environment: [:]),
            case .print(let alias) = program.parse(["help"], environment: [:]),
            case .refuse(let nested) = program.parse(["log"], environment: [:])
        else {
            Issue.record("another outcome")
            return
        }
        #expect(refused == printed)
        #expect(alias == printed)
        #expect(nested.hasPrefix("Usage: sea log COMMAND\n"))
    }

    @Test func `The version is printed at the top only`() {
        guard case .print(let version) = program.parse(["--version"], environment: [:]) else {
            Issue.record("another outcome")
            return
        }
        #expect(version == "sea 1.2")
        #expect(refusal(["stay", "--version"]) == "sea: unknown option --version")
    }

    @Test(arguments: [["go", "--help"], ["help", "go"], ["go", "-h", "--nonsense"]])
    func `Help shows usage, meanings, defaults and environment, wrapped`(_ words: [String]) throws {
        guard case .print(let text) = program.parse(words, environment: [:], width: 60) else {
            Issue.record("another outcome")
            return
        }
        let expected = """
            Usage: sea go --ship NAME [options] FROM [TO…]

            Goes somewhere.

            It takes as long as it takes, and sometimes a little longer,
            as every captain knows well.

            Arguments:
              FROM  Where it starts.
              TO    Where it goes.

            Options:
              -p, --port PORT  The port. (default: 23000; environment:
                               SEA_PORT)
              -c, --crew NAME  Who comes along. (may be repeated)
              -f, --fast       Hurry.
              -l, --loud       Shout.
              --ship NAME      The ship.
              --wait TIME      How long to wait.
              -h, --help       Print this help.
            """
        #expect(text == expected)
    }
}
