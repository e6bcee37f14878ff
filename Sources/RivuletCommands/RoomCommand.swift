internal import RivuletArguments
internal import RivuletServer

/// `rivulet room`: who may not write in a room.
enum RoomCommand {
    private static let room = Positional("ROOM", help: "The room's id.")
    private static let users = Positional("USER", isRepeated: true, help: "Users' numbers.")

    static let spec = CommandSpec(
        "room", summary: "Forbid users to write in rooms.", discussion: Administration.discussion,
        subcommands: [
            CommandSpec(
                "ban", summary: "Forbid users to write in a room.", options: Administration.options,
                positionals: [room, users]),
            CommandSpec(
                "unban", summary: "Allow users to write in a room again.", options: Administration.options,
                positionals: [room, users]),
            CommandSpec(
                "list", summary: "List who is banned.", options: Administration.options,
                positionals: [
                    Positional(
                        "ROOM", isRequired: false, help: "Only from this room; from any when not given.")
                ]),
        ])

    static func run(_ arguments: Arguments, _ context: CommandContext) async throws -> Int32 {
        guard let word = arguments.path.last, word != "list" else {
            let room = try arguments.value("ROOM", as: Int64.self)
            return try await Administration.run(.listBans(room: room), arguments, context) { answer in
                var rows = [["ROOM", "USER"]]
                for room in answer.rooms ?? [] { rows += room.banned.map { ["\(room.id)", "\($0)"] } }
                for line in Table.lines(rows) { try context.console.line(line) }
            }
        }
        let request = AdminRequest.banFromRoom(
            room: try Administration.number("ROOM", arguments),
            users: try Administration.numbers("USER", arguments), isBanned: word == "ban")
        return try await Administration.run(request, arguments, context) {
            try Administration.showChanges($0, context)
        }
    }
}
