internal import EditLineKit
internal import RivuletArguments
internal import RivuletModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// `rivulet chat`: a conversation on the terminal, or through pipes.
enum ChatCommand {
    static let spec = CommandSpec(
        "chat", summary: "Chat with a user.",
        discussion: """
            On a terminal, type a line and press Enter; /help shows more. Otherwise each line of standard input is \
            sent, messages that arrive are printed, and the exit status is 0 when everything was acknowledged.
            """,
        options: ClientOptions.options + [
            Option("--with", "-w", value: "ID", isRequired: true, help: "The other user's number."),
            Option(
                "--timeout", value: "TIME", default: "30s",
                help: "How long to wait for the server at the end of standard input."),
        ])

    static func run(_ arguments: Arguments, _ context: CommandContext) async throws -> Int32 {
        let peer = try ClientOptions.positive("--with", arguments)
        let timeout = try arguments.required("--timeout", as: Duration.self)
        let options = try ClientOptions.read(arguments, context)
        return try await chat(
            with: IMBackend(options, now: context.now), peer: peer, timeout: timeout, context: context)
    }

    /// Chats on the terminal if there is one that can edit lines, else through pipes.
    static func chat(
        with backend: any ChatBackend, peer: UserID, timeout: Duration, demo: Demo? = nil,
        context: CommandContext
    ) async throws -> Int32 {
        let names = demo.map { [peer: $0.partnerName] } ?? [:]
        let formatter = ChatFormatter(
            style: Style(usesColour: context.console.usesColour), time: context.time, names: names)
        guard canEditLines(context) else {
            let chat = PipedChat(
                backend: backend, peer: peer, formatter: formatter, console: context.console,
                timeout: timeout,
                greetingCount: demo.map { _ in 1 })
            return try await Interruptible.run { try await chat.run(input: context.input) }
        }
        let prompt = "\(names[peer] ?? "\(peer.rawValue)")> "
        let editor: LineEditor
        do {
            editor = try LineEditor(
                program: "rivulet", prompt: prompt, input: context.input, output: context.output)
        } catch {
            throw CommandError("\(error)")
        }
        let chat = InteractiveChat(
            backend: backend, peer: peer, formatter: formatter, editor: editor, greeting: demo?.greeting)
        return try await chat.run()
    }

    private static func canEditLines(_ context: CommandContext) -> Bool {
        let terminal = context.environment["TERM"] ?? ""
        return isatty(context.input) == 1 && isatty(context.output) == 1 && !terminal.isEmpty
            && terminal != "dumb"
    }

    /// What a demonstration says about itself.
    struct Demo: Sendable {
        var partnerName: String
        var greeting: String
    }
}
