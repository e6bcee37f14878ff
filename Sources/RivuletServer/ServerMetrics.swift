import RivuletServerCore
import Synchronization

/// The counts of a running server: how much happened, never what.
final class ServerMetrics: Sendable {
    let connectionsOpened = Atomic<Int>(0)
    let connectionsOpen = Atomic<Int>(0)
    let connectionsRefused = Atomic<Int>(0)
    let malformedInputs = Atomic<Int>(0)
    let loginsAccepted = Atomic<Int>(0)
    let loginsRefused = Atomic<Int>(0)
    let loginErrors = Atomic<Int>(0)
    let messagesStored = Atomic<Int>(0)
    let messagesRepeated = Atomic<Int>(0)
    let commits = Atomic<Int>(0)
    let storageErrors = Atomic<Int>(0)
    let foldBacklog = Atomic<Int>(0)
    let httpRequests = Atomic<Int>(0)
    let httpErrors = Atomic<Int>(0)
    /// Whether the last commit failed.
    let isStorageFailing = Atomic<Bool>(false)

    func count(_ result: LoginResult) {
        switch result {
        case .accepted: loginsAccepted.add(1, ordering: .relaxed)
        case .refused: loginsRefused.add(1, ordering: .relaxed)
        case .unavailable: loginErrors.add(1, ordering: .relaxed)
        }
    }

    func count(_ outcomes: [AppendOutcome]) {
        var (stored, repeated) = (0, 0)
        for outcome in outcomes {
            switch outcome {
            case .stored: stored += 1
            case .duplicate: repeated += 1
            case .unknown: break
            }
        }
        messagesStored.add(stored, ordering: .relaxed)
        messagesRepeated.add(repeated, ordering: .relaxed)
        commits.add(1, ordering: .relaxed)
    }

    /// The counts in the text format of Prometheus 0.0.4.
    func text(waitingMessages: Int, startedMilliseconds: Int64) -> String {
        var lines: [String] = []
        func add(_ name: String, _ type: String, _ help: String, _ values: [(labels: String, value: Int)]) {
            lines.append("# HELP rivulet_\(name) \(help)")
            lines.append("# TYPE rivulet_\(name) \(type)")
            for (labels, value) in values { lines.append("rivulet_\(name)\(labels) \(value)") }
        }
        func count(_ counter: borrowing Atomic<Int>) -> Int { counter.load(ordering: .relaxed) }
        add(
            "start_time_seconds", "gauge", "When the server started, in seconds since 1970.",
            [("", Int(startedMilliseconds / 1000))])
        add("connections", "gauge", "Client connections now open.", [("", count(connectionsOpen))])
        add(
            "connections_total", "counter", "Client connections, by whether they were taken.",
            [
                ("{result=\"accepted\"}", count(connectionsOpened)),
                ("{result=\"refused\"}", count(connectionsRefused)),
            ])
        add(
            "malformed_total", "counter", "Connections closed for bytes that are not the protocol.",
            [("", count(malformedInputs))])
        add(
            "logins_total", "counter", "Logins, by their outcome.",
            [
                ("{result=\"accepted\"}", count(loginsAccepted)),
                ("{result=\"refused\"}", count(loginsRefused)), ("{result=\"error\"}", count(loginErrors)),
            ])
        add(
            "messages_total", "counter", "Messages given to the log, by whether they were new to it.",
            [
                ("{result=\"stored\"}", count(messagesStored)),
                ("{result=\"repeated\"}", count(messagesRepeated)),
            ])
        add("commits_total", "counter", "Transactions of the message log.", [("", count(commits))])
        add(
            "storage_errors_total", "counter", "Storage operations that failed.", [("", count(storageErrors))]
        )
        add("messages_waiting", "gauge", "Messages waiting for their commit.", [("", waitingMessages)])
        add(
            "fold_backlog", "gauge", "Messages in the journal and not yet in the indexes.",
            [("", count(foldBacklog))])
        add("http_requests_total", "counter", "HTTP requests.", [("", count(httpRequests))])
        add(
            "http_errors_total", "counter", "HTTP requests that the server could not answer.",
            [("", count(httpErrors))])
        return lines.joined(separator: "\n") + "\n"
    }
}
