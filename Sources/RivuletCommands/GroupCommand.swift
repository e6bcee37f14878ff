internal import RivuletArguments
internal import RivuletServer

/// `rivulet group`: the groups of a server.
enum GroupCommand {
    private static let group = Positional("GROUP", help: "The group's id.")
    private static let users = Positional("USER", isRepeated: true, help: "Users' numbers.")

    static let spec = CommandSpec(
        "group", summary: "Make groups, and look after their members.",
        discussion: Administration.discussion,
        subcommands: [
            CommandSpec(
                "create", summary: "Make a group and print its id.",
                options: [
                    Option("--owner", value: "ID", isRequired: true, help: "The owner's user number."),
                    Option("--id", value: "ID", help: "The group's id; the next free one when not given."),
                    Option(
                        "--super",
                        help: "Keep one log for the group instead of a copy in each member's queue."),
                ] + Administration.options,
                positionals: [
                    Positional("NAME", help: "The group's name."),
                    Positional(
                        "MEMBER", isRequired: false, isRepeated: true,
                        help: "More members' numbers; the owner is one anyway."),
                ]),
            CommandSpec(
                "list", summary: "List the groups.",
                options: [Option("--user", "-u", value: "ID", help: "Only those in which this user is.")]
                    + Administration.options),
            CommandSpec(
                "show", summary: "Show a group and its members.", options: Administration.options,
                positionals: [group]),
            CommandSpec(
                "members", summary: "Let users into a group, or take them out.",
                subcommands: [
                    CommandSpec(
                        "add", summary: "Let users into a group.", options: Administration.options,
                        positionals: [group, users]),
                    CommandSpec(
                        "remove", summary: "Take users out of a group.", options: Administration.options,
                        positionals: [group, users]),
                ]),
            CommandSpec(
                "role", summary: "Give a member a role.",
                discussion: "A new owner makes the former one an admin.", options: Administration.options,
                positionals: [
                    group, Positional("USER", help: "The member's number."),
                    Positional("ROLE", help: "owner, admin or member."),
                ]),
            CommandSpec(
                "mute", summary: "Forbid members to write.", options: Administration.options,
                positionals: [
                    group,
                    Positional(
                        "USER", isRequired: false, isRepeated: true,
                        help: "The members' numbers; without any, all plain members."),
                ]),
            CommandSpec(
                "unmute", summary: "Allow members to write again.", options: Administration.options,
                positionals: [
                    group,
                    Positional(
                        "USER", isRequired: false, isRepeated: true,
                        help: "The members' numbers; without any, the whole group."),
                ]),
            CommandSpec(
                "super", summary: "Make a group a super group, or a normal one.",
                options: Administration.options,
                positionals: [group, Positional("STATE", help: "on or off.")]),
            CommandSpec(
                "rename", summary: "Give a group another name.", options: Administration.options,
                positionals: [group, Positional("NAME", help: "The new name.")]),
            CommandSpec(
                "dissolve", summary: "End a group for ever; its id is not used again.",
                options: Administration.options, positionals: [group]),
        ])

    static func run(_ arguments: Arguments, _ context: CommandContext) async throws -> Int32 {
        let word = arguments.path.last ?? ""
        switch word {
        case "create": return try await create(arguments, context)
        case "list":
            let user = try arguments.value("--user", as: Int64.self)
            return try await Administration.run(.listGroups(user: user), arguments, context) {
                try showList($0.groups ?? [], context)
            }
        case "show":
            let id = try Administration.number("GROUP", arguments)
            return try await Administration.run(.showGroup(id: id), arguments, context) {
                for group in $0.groups ?? [] { try show(group, context) }
            }
        default:
            return try await Administration.run(try change(word, arguments), arguments, context) {
                try Administration.showChanges($0, context)
            }
        }
    }

    private static func create(_ arguments: Arguments, _ context: CommandContext) async throws -> Int32 {
        let request = AdminRequest.createGroup(
            id: try arguments.value("--id", as: Int64.self), name: arguments.string("NAME") ?? "",
            owner: try Administration.number("--owner", arguments),
            members: try Administration.numbers("MEMBER", arguments), isSuper: arguments.flag("--super"))
        return try await Administration.run(request, arguments, context) {
            if let group = $0.groups?.first { try context.console.line("\(group.id)") }
        }
    }

    private static func change(_ word: String, _ arguments: Arguments) throws -> AdminRequest {
        let group = try Administration.number("GROUP", arguments)
        let users = try word == "role" ? [] : Administration.numbers("USER", arguments)
        switch word {
        case "add": return .addMembers(group: group, users: users)
        case "remove": return .removeMembers(group: group, users: users)
        case "role":
            let role = arguments.string("ROLE") ?? ""
            guard ["owner", "admin", "member"].contains(role) else {
                throw arguments.usageError("ROLE: '\(role)' is not owner, admin or member")
            }
            return .setRole(group: group, user: try Administration.number("USER", arguments), role: role)
        case "mute", "unmute":
            let isMuted = word == "mute"
            return users.isEmpty
                ? .muteGroup(id: group, isMuted: isMuted)
                : .muteMembers(group: group, users: users, isMuted: isMuted)
        case "super":
            let state = arguments.string("STATE") ?? ""
            guard ["on", "off"].contains(state) else {
                throw arguments.usageError("STATE: '\(state)' is not on or off")
            }
            return .setSuper(group: group, isSuper: state == "on")
        case "rename": return .renameGroup(id: group, name: arguments.string("NAME") ?? "")
        default: return .dissolveGroup(id: group)
        }
    }

    // MARK: Printing

    private static func showList(_ groups: [AdminAnswer.Group], _ context: CommandContext) throws {
        var rows = [["ID", "NAME", "OWNER", "MEMBERS", "KIND", "STATE"]]
        for group in groups {
            rows.append([
                "\(group.id)", UntrustedText.line(group.name), group.owner.map { "\($0)" } ?? "",
                "\(group.memberCount)", group.isSuper ? "super" : "normal", group.isMuted ? "muted" : "open",
            ])
        }
        for line in Table.lines(rows) { try context.console.line(line) }
    }

    private static func show(_ group: AdminAnswer.Group, _ context: CommandContext) throws {
        let kind = group.isSuper ? "super group" : "group"
        let name = UntrustedText.line(group.name)
        let state = group.isMuted ? ", muted" : ""
        try context.console.line("\(kind) \(group.id) \"\(name)\", \(group.memberCount) members\(state)")
        var rows = [["USER", "ROLE", "JOINED", "STATE"]]
        for member in group.members ?? [] {
            rows.append([
                "\(member.user)", member.role, context.time.stamp(member.joinedMilliseconds),
                member.isMuted ? "muted" : "",
            ])
        }
        for line in Table.lines(rows) { try context.console.line(line) }
    }
}
