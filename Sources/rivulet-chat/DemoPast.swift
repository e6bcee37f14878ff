import Foundation
import RivuletEngine
import RivuletModel
import RivuletStore

/// Writes what happened before the demonstration began: thousands of messages of every kind.
nonisolated enum DemoPast {
    private static let lines = [
        "Did anybody find the long ladder?", "It was behind the shed, next to the canoe.",
        "早上好！今天天气不错。", "The photos of last week are up: https://example.org/album/42",
        "I can drive two people, but no luggage.", "😂😂", "Perfect.",
        "We should leave early. The car park at the reservoir is full by nine, and the walk from the village adds an hour in each direction.",
        "下次我们走北坡吧，人少一些，景色也更好。", "Who has the key to the hut?", "Me, as always.",
        "Then please do not lose it again 🙏", "مرحبا، سأصل متأخرا قليلا", "Rain until ten, then clear.",
        "👍", "I counted seven herons on the way down.", "了解", "That is the best news of the day!",
        "Ticket prices went up again, from 4.80 to 5.20. Still cheaper than the fuel.", "See you there.",
    ]

    /// Writes everything into the account's store.
    @concurrent
    static func write(into account: ChatAccount) async throws {
        let now = ChatAccount.systemTime()
        var writer = PastWriter(account: account, now: now)
        try await writer.long(.peer(UserID(2)), people: [2], count: 3_000, until: now - 30 * 60_000)
        try await writer.long(.peer(UserID(3)), people: [3], count: 240, until: now - 26 * 3_600_000)
        try await writer.long(.peer(UserID(4)), people: [4], count: 120, until: now - 3 * 86_400_000)
        try await writer.long(DemoWorld.crew, people: [3, 5, 6], count: 800, until: now - 4 * 86_400_000)
        try await writer.long(
            DemoWorld.hikers, people: [2, 3, 4, 5], count: 2_000, until: now - 100 * 60_000)
        try await writer.readAll()
        try await writer.calls()
        try await writer.hike()
    }

    /// Collects messages of one account and stores them.
    private struct PastWriter {
        let account: ChatAccount
        let now: Int64
        var seed: UInt64 = 0x5EED
        var number = 0
        var sendNumber: Int64 = 0

        mutating func random(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((seed >> 33) % UInt64(bound))
        }

        func encoded(_ content: MessageContent, uuid: String, reference: String? = nil) throws -> String {
            try account.codec.encode(content, envelope: ContentEnvelope(uuid: uuid, reference: reference))
        }

        mutating func incoming(
            _ session: Session, _ sender: Int64, _ raw: String, at time: Int64
        ) -> IncomingMessage {
            number += 1
            return IncomingMessage(
                session: session, sender: UserID(sender), isOutgoing: sender == 1, raw: raw,
                content: account.codec.decode(raw), timeMilliseconds: time)
        }

        /// A long conversation, ending at a time.
        mutating func long(_ session: Session, people: [Int64], count: Int, until end: Int64) async throws {
            var batch: [IncomingMessage] = []
            // Some minutes from one to the next, and the last one at the end.
            let steps = (0..<count).map { _ in random(10) < 7 ? 1 + random(2) : 10 + random(50) }
            var time = end - Int64(steps.reduce(0, +)) * 60_000
            var sender = people[0]
            for index in 0..<count {
                time += Int64(steps[index]) * 60_000
                if random(3) == 0 { sender = random(3) == 0 ? 1 : people[random(people.count)] }
                let uuid = "past-\(session.kind.rawValue)-\(session.id)-\(index)"
                let content: MessageContent =
                    random(23) == 0
                    ? .image(
                        ImageContent(
                            url: SamplePicture.scheme + "\(random(40))", width: SamplePicture.width,
                            height: SamplePicture.height))
                    : .text(DemoPast.lines[random(DemoPast.lines.count)])
                batch.append(incoming(session, sender, try encoded(content, uuid: uuid), at: time))
            }
            _ = try await account.store.apply([.insertHistory(batch)])
        }

        func readAll() async throws {
            for conversation in try await account.store.conversations(limit: 50, offset: 0) {
                _ = try await account.store.apply([.markRead(conversation.session, upTo: nil)])
            }
        }

        /// What waits in the other conversations: a question to the guest, news of an order, a draft, choices.
        mutating func calls() async throws {
            let sign = MessageContent.text(
                TextContent(
                    "@Lena Weiss can you sign the build?",
                    mentions: [TextContent.Mention(user: DemoWorld.guestID, name: "Lena Weiss")]))
            let order = MessageContent.text("您的订单已发货，预计明天送达。")
            let question = MessageContent.text("你好，我的订单什么时候发货？")
            var operations: [StoreOperation] = []
            operations.append(
                .receive(
                    incoming(
                        DemoWorld.crew, 6, try encoded(sign, uuid: "crew-sign"), at: now - 4 * 86_400_000)))
            operations.append(
                .receive(
                    incoming(
                        DemoWorld.service, 1, try encoded(question, uuid: "order-1"), at: now - 25 * 3_600_000
                    )))
            operations.append(
                .receive(
                    incoming(
                        DemoWorld.service, 30, try encoded(order, uuid: "order-2"), at: now - 24 * 3_600_000))
            )
            operations.append(.setDraft(.peer(UserID(3)), "see you at the station"))
            operations.append(.setPinned(DemoWorld.hikers, true))
            operations.append(.setMuted(DemoWorld.radio, true))
            _ = try await account.store.apply(operations)
        }

        /// The conversation that is open at first: a little of everything.
        mutating func hike() async throws {
            let hikers = DemoWorld.hikers
            let begin = now - 64 * 60_000
            func minutes(_ count: Int64) -> Int64 { begin + count * 60_000 }
            let bus =
                "Bus 17 leaves at 07:20, we meet at the north gate. Bring water, there is no shop after the second bridge."
            var operations: [StoreOperation] = []
            func add(_ message: IncomingMessage) { operations.append(.receive(message)) }
            add(incoming(hikers, 2, try encoded(.text(bus), uuid: "hike-bus"), at: minutes(0)))
            let picture = ImageContent(
                url: SamplePicture.scheme + "4", width: SamplePicture.width, height: SamplePicture.height)
            add(incoming(hikers, 2, try encoded(.image(picture), uuid: "hike-picture"), at: minutes(1)))
            for (emoji, users) in [("👍", [Int64(1), 3, 4]), ("🌄", [5, 3])] {
                for user in users {
                    let raw = try account.codec.encode(
                        ControlContent.reaction(target: "hike-picture", emoji: emoji, isOn: true),
                        envelope: ContentEnvelope(uuid: "r-\(emoji)-\(user)"))
                    add(incoming(hikers, user, raw, at: minutes(2)))
                }
            }
            add(
                incoming(
                    hikers, 1,
                    try encoded(
                        .text("I can take two people by car if anyone misses it."), uuid: "hike-car",
                        reference: "hike-bus"), at: minutes(3)))
            operations.append(.deliver(uuids: ["hike-car"]))
            let voice = AudioContent(url: SampleSound.scheme + "6", durationSeconds: 6)
            add(incoming(hikers, 5, try encoded(.audio(voice), uuid: "hike-voice"), at: minutes(4)))
            _ = try await account.store.apply(operations)
            _ = try await account.store.apply([.markRead(hikers, upTo: nil)])
            operations = []
            add(
                incoming(
                    hikers, 3,
                    try encoded(
                        .text("Thanks! Keep a seat for me, my train is late as ever."), uuid: "hike-t"),
                    at: minutes(40)))
            let joined = GroupNotification(
                groupID: hikers.id, time: minutes(41) / 1_000, change: .memberAdded(UserID(4), name: "林小雨"))
            // As the server's word is kept: the notification's JSON as a string inside the content's.
            let text = try account.codec.encode(joined)
            let notice = String(
                decoding: try JSONEncoder().encode(["notification": text]), as: UTF8.self)
            operations.append(
                .receive(
                    IncomingMessage(
                        session: hikers, sender: UserID(0), isOutgoing: false, raw: notice,
                        content: DecodedContent(
                            envelope: ContentEnvelope(), body: .message(.groupNotification(joined))),
                        timeMilliseconds: minutes(41))))
            add(
                incoming(
                    hikers, 5, try encoded(.text("Wrong group, sorry"), uuid: "hike-wrong"), at: minutes(42)))
            add(
                incoming(
                    hikers, 5, try account.codec.encode(ControlContent.revoke(target: "hike-wrong")),
                    at: minutes(43)))
            add(
                incoming(
                    hikers, 3,
                    #"{"uuid":"hike-new","hologram":{"seconds":14},"fallback":"A hologram of 14 seconds; this version cannot show it."}"#,
                    at: minutes(44)))
            add(incoming(hikers, 4, try encoded(.text("山顶日落，没修图"), uuid: "hike-sun"), at: minutes(45)))
            _ = try await account.store.apply(operations)
            try await fail("And I have a spare rope.", in: hikers)
        }

        /// A message of the guest that was not sent.
        private mutating func fail(_ text: String, in session: Session) async throws {
            sendNumber += 1
            let uuid = "failed-\(sendNumber)"
            let raw = try encoded(.text(text), uuid: uuid)
            let queued = QueuedMessage(
                session: session, raw: raw, content: account.codec.decode(raw),
                send: StoredSend(
                    number: sendNumber, uuid: uuid, command: 8, flags: 0, body: [],
                    createdMilliseconds: now - 18 * 60_000))
            _ = try await account.store.apply([
                .send(queued), .fail(send: sendNumber, reason: "there is no such group"),
            ])
        }
    }
}
