import Foundation
import RivuletClientCore
import RivuletEngine
import RivuletModel
import RivuletStore
import RivuletWire

extension BenchmarkSuite {
    /// The account's file: filling it, opening a long conversation, jumping and searching in it.
    static let store = BenchmarkSuite(
        name: "store", summary: "the client's store: ingest, first page, jump, search",
        options: [
            Option(name: "messages", placeholder: "N", help: "the size of the long conversation (1000000)"),
            Option(
                name: "folder", placeholder: "PATH",
                help: "where the files go (the system's temporary folder)"),
            Option(name: "only", placeholder: "PART", help: "ingest, reading or list alone"),
        ]
    ) { report, options in
        let size = max(1_000, try options.integer("messages", default: 1_000_000))
        let bench = try StoreBench(folder: options.values["folder"])
        defer { bench.remove() }
        let only = options.values["only"]
        if only ?? "ingest" == "ingest" {
            try await bench.measureIngest(
                &report, count: min(100_000, size), samples: min(3, options.sampleCount))
        }
        if only ?? "reading" == "reading" {
            var sizes = [10_000, 100_000, 1_000_000].filter { $0 < size }
            sizes.append(size)
            for size in sizes {
                try await bench.measureReading(&report, size: size, samples: options.sampleCount)
            }
        }
        if only ?? "list" == "list" { try await bench.measureList(&report, samples: options.sampleCount) }
    }
}

/// Files of accounts in a folder of their own, filled by whole sync rounds as a client fills them.
private struct StoreBench {
    let folder: String
    private let roundCount = 3_000

    init(folder: String?) throws {
        let base = folder ?? FileManager.default.temporaryDirectory.path
        self.folder = base + "/rivulet-bench-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    }

    func remove() {
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            FileHandle.standardError.write(Data("cannot remove \(folder)\n".utf8))
        }
    }

    // MARK: Figures

    /// A first sync of an account with 50 conversations, search included.
    func measureIngest(_ report: inout BenchmarkReport, count: Int, samples: Int) async throws {
        var rates: [Double] = []
        for sample in 0..<max(1, samples) {
            tell("first sync of \(count) messages, run \(sample + 1) of \(max(1, samples))")
            let batches = SampleMessages(seed: 0x5EED, sessionCount: 50).batches(count, round: roundCount)
            let store = try open("ingest-\(sample)")
            let storage = AccountStorage(store: store)
            let start = ContinuousClock.now
            for batch in batches { _ = try await storage.commit(batch) }
            rates.append(Double(count) / Samples.seconds(.now - start))
            await store.close()
        }
        rates.sort()
        report.add(
            Figure(
                suite: "store", name: "store.ingest",
                parameters: [("messages", count), ("round", roundCount)],
                value: rates[rates.count / 2], best: rates.last, unit: "messages/s", better: .higher,
                bar: 30_000))
    }

    /// One conversation of this size among others: its first page, jumps and searches.
    func measureReading(_ report: inout BenchmarkReport, size: Int, samples: Int) async throws {
        let name = "long-\(size)"
        try await fill(name, size)
        let session = Session.peer(UserID(2))
        var opens: [Double] = []
        for _ in 0..<max(1, samples) {
            // Opened anew every time: what the program does when it starts.
            let start = ContinuousClock.now
            let store = try open(name)
            let page = try await store.page(PageQuery(session: session))
            opens.append(Samples.seconds(.now - start) * 1_000)
            guard page.messages.count == 50 else { throw BenchmarkUsageError(message: "a page is short") }
            await store.close()
        }
        add(&report, "store.open", size, opens, bar: 50)

        let store = try open(name)
        let newest = try await store.page(PageQuery(session: session)).messages
        let oldest = try await store.page(PageQuery(session: session, place: .oldest)).messages
        guard let last = newest.last?.id.rawValue, let first = oldest.first?.id.rawValue else { return }
        var generator = SeededGenerator(seed: 0x0DD5)
        var jumps: [Double] = []
        for _ in 0..<max(100, samples) {
            let id = MessageID(Int64.random(in: first...last, using: &generator))
            let start = ContinuousClock.now
            _ = try await store.page(PageQuery(session: session, place: .around(id)))
            jumps.append(Samples.seconds(.now - start) * 1_000)
        }
        add(&report, "store.jump", size, jumps, bar: 16)

        // From words that every message has to one that a single message has.
        var searches: [Double] = []
        for query in SampleMessages.queries(size) {
            for session in [nil, session] {
                for _ in 0..<max(1, samples / 3) {
                    let start = ContinuousClock.now
                    _ = try await store.search(SearchQuery(query, session: session))
                    searches.append(Samples.seconds(.now - start) * 1_000)
                }
            }
        }
        add(&report, "store.search", size, searches, bar: 20)

        // Days long past: what is newer must not be read.
        var dated: [Double] = []
        for query in SampleMessages.queries(size) {
            for part in 0..<4 {
                var search = SearchQuery(query)
                search.fromMilliseconds = (1_600_000_000 + Int64(size / 4 * part)) * 1_000
                search.untilMilliseconds = search.fromMilliseconds.map { $0 + 1_000_000 }
                let start = ContinuousClock.now
                _ = try await store.search(search)
                dated.append(Samples.seconds(.now - start) * 1_000)
            }
        }
        add(&report, "store.search.dated", size, dated, bar: nil)
        await store.close()
    }

    /// The list of an account with 10,000 conversations.
    func measureList(_ report: inout BenchmarkReport, samples: Int) async throws {
        tell("filling 10000 conversations")
        let store = try open("list")
        let storage = AccountStorage(store: store)
        for batch in SampleMessages(seed: 1, sessionCount: 10_000).batches(20_000, round: roundCount) {
            _ = try await storage.commit(batch)
        }
        var pages: [Double] = []
        for _ in 0..<max(1, samples) {
            let start = ContinuousClock.now
            _ = try await store.conversations(limit: 50, offset: 0)
            pages.append(Samples.seconds(.now - start) * 1_000)
        }
        pages.sort()
        report.add(
            Figure(
                suite: "store", name: "store.list.10k",
                parameters: [("conversations", 10_000), ("page", 50)],
                value: pages[pages.count / 2], best: pages.first, unit: "ms", better: .lower))
        await store.close()
    }

    // MARK: Helpers

    /// The figure is the median, and the slowest stands among the parameters, in microseconds.
    private func add(
        _ report: inout BenchmarkReport, _ name: String, _ size: Int, _ milliseconds: [Double], bar: Double?
    ) {
        let sorted = milliseconds.sorted()
        guard let slowest = sorted.last else { return }
        let suffix = size % 1_000_000 == 0 ? "\(size / 1_000_000)m" : "\(size / 1_000)k"
        report.add(
            Figure(
                suite: "store", name: "\(name).\(suffix)",
                parameters: [
                    ("messages", size), ("runs", sorted.count), ("slowest_us", Int(slowest * 1_000)),
                ],
                value: sorted[sorted.count / 2], best: sorted.first, unit: "ms", better: .lower,
                bar: size == 1_000_000 ? bar : nil))
    }

    private func open(_ name: String) throws -> SQLiteAccountStore {
        try SQLiteAccountStore(path: "\(folder)/\(name).db", account: UserID(1))
    }

    /// Says on the standard error what takes long.
    private func tell(_ text: String) {
        FileHandle.standardError.write(Data("store: \(text)\n".utf8))
    }

    private func fill(_ name: String, _ count: Int) async throws {
        tell("filling a conversation of \(count) messages")
        let store = try open(name)
        let storage = AccountStorage(store: store)
        var messages = SampleMessages(seed: 0x5EED, sessionCount: 1)
        var done = 0
        while done < count {
            let round = min(roundCount, count - done)
            _ = try await storage.commit(messages.batch(round))
            done += round
            if done % 150_000 == 0, done < count { tell("\(done) of \(count)") }
        }
        await store.close()
    }
}

/// Messages of a fixed seed: half Chinese, half English, ten words each, from users to this account.
private struct SampleMessages {
    private var generator: SeededGenerator
    private let sessionCount: Int
    private var number = 0

    init(seed: UInt64, sessionCount: Int) {
        generator = SeededGenerator(seed: seed)
        self.sessionCount = sessionCount
    }

    private static let latin = """
        the of and to in is you that it he was for on are with his they at be this have from or had by hot word but
        what some we can out other were all there when up use your how said an each she weather meeting tomorrow
        """.split { $0 == " " || $0 == "\n" }.map(String.init)
    private static let han = Array(
        "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处理世车"
    )

    static func queries(_ size: Int) -> [String] {
        ["的", "weather", "天", "明天", "meet", "the weather", "needle\(size / 2)", "nothingatall"]
    }

    func batches(_ count: Int, round: Int) -> [StorageBatch] {
        var copy = self
        return stride(from: 0, to: count, by: round).map { copy.batch(min(round, count - $0)) }
    }

    mutating func batch(_ count: Int) -> StorageBatch {
        StorageBatch(id: UInt64(number), changes: (0..<count).map { _ in next() } + [.peerKey(Int64(number))])
    }

    private mutating func next() -> StorageChange {
        number += 1
        var text = ""
        if number.isMultiple(of: 2) {
            for _ in 0..<20 { text.append(Self.han[Int(generator.next() % UInt64(Self.han.count))]) }
        } else {
            for _ in 0..<10 { text += Self.latin[Int(generator.next() % UInt64(Self.latin.count))] + " " }
        }
        text += "needle\(number)"
        let uuid = String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
        let sender = 2 + number % sessionCount
        return .received(
            ReceivedMessage(
                command: .im,
                body: .im(
                    IMMessage(
                        sender: Int64(sender), receiver: 1, timestamp: Int32(1_600_000_000 + number),
                        content: "{\"text\":\"\(text)\",\"uuid\":\"\(uuid)\"}"))))
    }
}
