import Synchronization

/// The messaging kit of somebody else, invented: it has its own words, calls back on its own thread, and sometimes twice.
///
/// This file stands for a library that an app already has. Nothing in it knows of Rivulet.
final class PigeonKit: Sendable {
    struct Letter: Sendable {
        var ticket: String
        var serial: Int
        var from: String
        var loft: String
        var words: String
    }

    enum Trouble: Error {
        case storm
    }

    private struct State {
        var letters: [Letter] = []
        var listener: (@Sendable (Letter) -> Void)?
        var isStormy = false
    }

    private let state = Mutex(State())

    func setStorm(_ isStormy: Bool) { state.withLock { $0.isStormy = isStormy } }
    func listen(_ listener: @escaping @Sendable (Letter) -> Void) {
        state.withLock { $0.listener = listener }
    }

    func fetchLetters(
        loft: String, below serial: Int?, max: Int, completion: @escaping @Sendable ([Letter]) -> Void
    ) {
        let found = state.withLock { state in
            state.letters.filter { $0.loft == loft && $0.serial < serial ?? .max }.suffix(max)
        }
        Task.detached {
            completion(Array(found))
            // An old fault of this kit, which an app has to live with.
            completion([])
        }
    }

    func release(
        words: String, ticket: String, loft: String, from: String,
        completion: @escaping @Sendable (Result<Letter, any Error>) -> Void
    ) {
        let (result, listener) = state.withLock {
            state -> (Result<Letter, any Error>, (@Sendable (Letter) -> Void)?) in
            guard !state.isStormy else { return (.failure(Trouble.storm), nil) }
            let letter = Letter(
                ticket: ticket, serial: state.letters.count + 1, from: from, loft: loft, words: words)
            state.letters.append(letter)
            return (.success(letter), state.listener)
        }
        Task.detached {
            // The push overtakes the answer, and the answer comes twice.
            if case .success(let letter) = result { listener?(letter) }
            completion(result)
            completion(result)
        }
    }
}
