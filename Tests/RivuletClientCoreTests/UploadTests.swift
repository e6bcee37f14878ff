import RivuletWire
import Testing

@testable import RivuletClientCore

@Suite("Messages that wait for an upload")
struct UploadTests {
    private func request(
        _ text: String, ticket: UInt64, to receiver: Int64 = 8, needsUpload: Bool = false
    ) -> SendRequest {
        var request = CoreDriver().request(text, ticket: ticket, to: receiver)
        request.needsUpload = needsUpload
        return request
    }

    private func body(_ text: String, to receiver: Int64 = 8) -> PacketBody {
        .im(IMMessage(sender: 7, receiver: receiver, content: text))
    }

    @Test func `a message is stored first, then uploaded, then stored anew, then written`() {
        var driver = CoreDriver.online()
        let requested = driver.tell(.sendRequested(request("local", ticket: 1, needsUpload: true)))
        #expect(requested.batches.count == 1)
        #expect(requested.uploads.isEmpty)
        let stored = driver.commit()
        #expect(stored.uploads.map(\.body.text) == ["local"])
        #expect(stored.packets().isEmpty)

        let id = SendID(rawValue: 1)
        let uploaded = driver.tell(.uploadFinished(id, body("remote")))
        #expect(uploaded.packets().isEmpty)
        guard case .uploaded(let entry)? = uploaded.batches.first?.changes.first else {
            Issue.record("the storage was not told: \(uploaded)")
            return
        }
        #expect(entry.body.text == "remote" && !entry.needsUpload && entry.uuid == "uuid-local")
        let written = driver.commit()
        #expect(written.packets().compactMap(\.body.text) == ["remote"])
        #expect(written.reports.isEmpty, "the message is queued once")
    }

    @Test func `it keeps back its own conversation and no other`() {
        var driver = CoreDriver.online()
        driver.tell(.sendRequested(request("picture", ticket: 1, needsUpload: true)))
        driver.tell(.sendRequested(request("behind it", ticket: 2)))
        let other = driver.tell(.sendRequested(request("elsewhere", ticket: 3, to: 9)))
        let actions = other + driver.commit() + driver.commit()
        #expect(actions.packets().compactMap(\.body.text) == ["elsewhere"])
        driver.tell(.uploadFinished(SendID(rawValue: 1), body("link")))
        #expect(driver.commit().packets().compactMap(\.body.text) == ["link", "behind it"])
    }

    @Test func `a restart asks for the upload again`() {
        var entry = OutboxEntry(
            id: SendID(rawValue: 4), uuid: "u", command: .im, body: body("local"), createdMilliseconds: 0)
        entry.needsUpload = true
        var driver = CoreDriver()
        driver.tell(.started(CoreDriver.identity))
        let actions = driver.tell(.restored(RestoredState(peerKey: 10, outbox: [entry])))
        #expect(actions.uploads.map(\.id) == [SendID(rawValue: 4)])
        driver.tell(.stopped)
        let again = driver.tell(.started(CoreDriver.identity))
        #expect(again.uploads.map(\.id) == [SendID(rawValue: 4)])
    }

    @Test func `an upload that fails ends the message and lets the next one go`() {
        var driver = CoreDriver.online()
        driver.tell(.sendRequested(request("picture", ticket: 1, needsUpload: true)))
        driver.tell(.sendRequested(request("behind it", ticket: 2)))
        driver.commit()
        driver.commit()
        let failed = driver.tell(.uploadFailed(SendID(rawValue: 1)))
        #expect(failed.batches.first?.changes == [.failed(SendID(rawValue: 1), .uploadFailed)])
        let told = failed + driver.commit()
        #expect(told.reports.map(\.step) == [.failed(.uploadFailed)])
        #expect(told.packets().compactMap(\.body.text) == ["behind it"])
    }

    @Test func `a message that is withdrawn stops its upload`() {
        var driver = CoreDriver.online()
        driver.tell(.sendRequested(request("picture", ticket: 1, needsUpload: true)))
        driver.commit()
        let cancelled = driver.tell(.sendCancelled(.ticket(SendTicket(rawValue: 1))))
        #expect(cancelled.contains(.cancelUpload(SendID(rawValue: 1))))
        #expect(driver.commit().reports.map(\.step) == [.cancelled])
        let late = driver.tell(.uploadFinished(SendID(rawValue: 1), body("late")))
        #expect(late.batches.isEmpty && late.packets().isEmpty)
    }

    @Test func `a few uploads run at a time, in order`() {
        var driver = CoreDriver.online()
        var asked: [SendID] = []
        for ticket in 1...5 {
            asked += driver.tell(
                .sendRequested(request("\(ticket)", ticket: UInt64(ticket), needsUpload: true))
            ).uploads.map(\.id)
        }
        asked += driver.commit().uploads.map(\.id) + driver.commit().uploads.map(\.id)
        #expect(asked.map(\.rawValue) == [1, 2])
        let next = driver.tell(.uploadFinished(SendID(rawValue: 1), body("1 done")))
        #expect(next.uploads.map(\.id.rawValue) == [3])
    }

    @Test func `a body that cannot be written ends the message`() {
        var driver = CoreDriver.online()
        driver.tell(.sendRequested(request("picture", ticket: 1, needsUpload: true)))
        driver.commit()
        driver.tell(
            .uploadFinished(SendID(rawValue: 1), body(String(repeating: "x", count: 40_000))))
        #expect(driver.commit().reports.map(\.step) == [.failed(.notEncodable)])
    }

    @Test func `a failed commit of the new body is tried again`() {
        var driver = CoreDriver.online()
        driver.tell(.sendRequested(request("picture", ticket: 1, needsUpload: true)))
        driver.commit()
        driver.tell(.uploadFinished(SendID(rawValue: 1), body("link")))
        driver.failCommit()
        driver.reconnect()
        driver.receive(.syncEnd, .syncKey(10))
        let written = driver.commit()
        #expect(written.packets().compactMap(\.body.text).contains("link"))
    }
}

extension [ClientAction] {
    var uploads: [OutboxEntry] {
        compactMap { if case .upload(let entry) = $0 { entry } else { nil } }
    }

    var statuses: [ConnectionStatus] {
        notifications.compactMap { if case .statusChanged(let status) = $0 { status } else { nil } }
    }
}
