extension CommandSpec {
    /// The help text, wrapped to a width; `path` holds the words that lead to the command, its own included.
    public func help(path: [String], width: Int = 80) -> String {
        var sections = ["Usage: " + usage(path: path, width: width), wrap(summary, width: width)]
        if !discussion.isEmpty { sections.append(paragraphs(discussion, width: width)) }
        if !subcommands.isEmpty {
            sections.append("Commands:\n" + table(subcommands.map { ($0.name, $0.summary) }, width: width))
        }
        if !positionals.isEmpty {
            sections.append("Arguments:\n" + table(positionals.map { ($0.name, $0.help) }, width: width))
        }
        sections.append("Options:\n" + table(optionRows(isTop: path.count == 1), width: width))
        if !subcommands.isEmpty {
            sections.append(
                "See '\(path[0]) help \((path.dropFirst() + ["COMMAND"]).joined(separator: " "))' for more.")
        }
        return sections.joined(separator: "\n\n")
    }

    private func usage(path: [String], width: Int) -> String {
        var words = path
        for option in options where option.isRequired {
            words.append("\(option.name) \(option.valueName ?? "")")
        }
        if !subcommands.isEmpty { words.append("COMMAND") }
        if options.contains(where: { !$0.isRequired }) { words.append("[options]") }
        for positional in positionals {
            let name = positional.name + (positional.isRepeated ? "…" : "")
            words.append(positional.isRequired ? name : "[\(name)]")
        }
        // Every word stays whole: "--user ID" is one.
        return fill(words, width: width - 7).joined(separator: "\n" + String(repeating: " ", count: 7))
    }

    private func optionRows(isTop: Bool) -> [(String, String)] {
        var rows = options.map { option in
            let names = [option.short, option.name].compactMap(\.self).joined(separator: ", ")
            var notes: [String] = []
            if option.isRepeated { notes.append("may be repeated") }
            if let text = option.defaultValue { notes.append("default: \(text)") }
            if let variable = option.environment { notes.append("environment: \(variable)") }
            let suffix = notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
            return (names + (option.valueName.map { " \($0)" } ?? ""), option.help + suffix)
        }
        if isTop, version != nil { rows.append(("--version", "Print the version.")) }
        rows.append(("-h, --help", "Print this help."))
        return rows
    }

    private func table(_ rows: [(String, String)], width: Int) -> String {
        let columnMax = 26
        let column = min(columnMax, rows.map(\.0.count).max() ?? 0)
        let indent = String(repeating: " ", count: column + 4)
        return rows.map { name, text in
            let lines = fill(
                text.split(separator: " ").map(String.init), width: max(20, width - indent.count))
            // A name too long for its column has a line of its own.
            let head =
                name.count <= column
                ? "  " + name + String(repeating: " ", count: column - name.count + 2)
                : "  \(name)\n\(indent)"
            return head + lines.joined(separator: "\n" + indent)
        }.joined(separator: "\n")
    }

    private func paragraphs(_ text: String, width: Int) -> String {
        var result: [String] = []
        var words: [String] = []
        // Indented lines are examples and stay as they are.
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty || line.hasPrefix(" ") {
                if !words.isEmpty { result.append(fill(words, width: width).joined(separator: "\n")) }
                words = []
                result.append(String(line))
            } else {
                words += line.split(separator: " ").map(String.init)
            }
        }
        if !words.isEmpty { result.append(fill(words, width: width).joined(separator: "\n")) }
        return result.joined(separator: "\n")
    }

    private func wrap(_ text: String, width: Int) -> String {
        fill(text.split(separator: " ").map(String.init), width: width).joined(separator: "\n")
    }

    /// Fills lines with words; a word longer than the width has a line of its own.
    private func fill(_ words: [String], width: Int) -> [String] {
        var lines: [String] = []
        for word in words {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(word)
            }
        }
        return lines
    }
}
