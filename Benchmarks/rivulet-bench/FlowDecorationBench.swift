import Foundation
import RivuletFlow
import RivuletModel

/// Decoration at one size, and an arrival through decoration, difference and index.
struct FlowDecorationBench {
    var size: Int
    var samples: Int

    private static let context = DecorationContext(
        zone: ZoneOffsets(fixedSeconds: 3600), nowMilliseconds: 1_796_040_000_000)

    init(size: Int, samples: Int) {
        self.size = size
        self.samples = samples
    }

    func run(_ report: inout BenchmarkReport) {
        var messages = Self.messages(size)
        let arrived = messages.removeLast()
        let rules = DecorationRules()
        let full = Samples(count: samples) {
            flowKeep(Decoration(of: messages, rules: rules, context: Self.context))
        }
        report.add(FlowFigure.make("decorate.full", size: size, full))

        let shorter = messages
        let longer = shorter + [arrived]
        let arrival = MessageEdit.inserted(count: 1, at: shorter.count)
        let appending = Samples(
            count: samples, preparing: { Decoration(of: shorter, rules: rules, context: Self.context) }
        ) { flowKeep($0.update(longer, edit: arrival, context: Self.context)) }
        report.add(FlowFigure.make("decorate.append1", size: size, appending, micro: true))
        let editing = Samples(
            count: samples, preparing: { Decoration(of: shorter, rules: rules, context: Self.context) }
        ) { flowKeep($0.update(shorter, edit: .changed(at: shorter.count / 2), context: Self.context)) }
        report.add(FlowFigure.make("decorate.edit1", size: size, editing, micro: true))

        let applying = Samples(
            count: samples, preparing: { Pipeline(shorter, rules, Self.context) }
        ) { $0.arrive(longer, arrival, Self.context) }
        report.add(FlowFigure.make("flow.arrival", size: size, applying, micro: true))
        reportMemory(shorter, &report)
    }

    /// The steps between a message and the screen that this suite knows: rows, changes, offsets.
    private struct Pipeline {
        var decoration: Decoration
        var index: LayoutIndex

        init(_ messages: [Message], _ rules: DecorationRules, _ context: DecorationContext) {
            decoration = Decoration(of: messages, rules: rules, context: context)
            index = LayoutIndex(count: decoration.rows.count, height: 44)
        }

        mutating func arrive(_ messages: [Message], _ edit: MessageEdit, _ context: DecorationContext) {
            let rows = decoration.update(messages, edit: edit, context: context)
            let changes = rows.changes(newTotal: decoration.rows.count)
            index.apply(changes) { _ in 60 }
            flowKeep(index.visibleRows(in: index.totalHeight - 900..<index.totalHeight))
        }
    }

    /// What rows and index hold, as growth of the resident memory by several of them.
    private func reportMemory(_ messages: [Message], _ report: inout BenchmarkReport) {
        let copies = 4
        let before = Self.residentByteCount
        let decorations = (0..<copies).map { _ in
            Decoration(of: messages, rules: DecorationRules(), context: Self.context)
        }
        let middle = Self.residentByteCount
        let rowCount = decorations[0].rows.count
        let indexes = (0..<copies).map { _ in LayoutIndex(count: rowCount, height: 44) }
        let after = Self.residentByteCount
        for (name, bytes) in [("rows", middle - before), ("index", after - middle)] {
            report.add(
                Figure(
                    suite: "flow", name: "flow.memory.\(name).\(FlowFigure.short(size))",
                    parameters: [("rows", rowCount)], value: Double(bytes) / Double(copies * rowCount),
                    best: nil, unit: "bytes/row", better: .lower, bar: nil))
        }
        flowKeep(indexes)
        flowKeep(decorations)
    }

    private static var residentByteCount: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4096
    }

    private static func messages(_ count: Int) -> [Message] {
        var generator = SeededGenerator(seed: 5)
        var time: Int64 = 1_780_000_000_000
        return (0..<count).map { index in
            time += Int64.random(in: 1000...120_000, using: &generator)
            let sender = Int64.random(in: 1...4, using: &generator)
            return Message(
                id: MessageID(Int64(index)), session: .group(7), sender: UserID(sender),
                isOutgoing: sender == 1,
                position: MessagePosition(Int64(index)), timeMilliseconds: time,
                content: .text("Message number \(index), of a common length"))
        }
    }
}
