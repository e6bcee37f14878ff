import Foundation
import Glibc
import Synchronization

/// A process that a test started.
///
/// Foundation's `Process` copies more of a directory entry than there is when it counts the open files, which ends the
/// tests when some 1,360 are open; and it hands on the signals that the calling thread blocks, which on threads of
/// Dispatch are nearly all: a daemon that is asked by SIGTERM to end would never hear of it.
final class ChildProcess: Sendable {
    /// Why a process could not be started.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The process's id.
    let processIdentifier: pid_t
    /// Known once the process was found to have ended.
    private let status = Mutex<Int32?>(nil)

    /// `posix_spawn_file_actions_addclosefrom_np`, which glibc's headers show to C with GNU extensions only.
    private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast(
            $0, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)
    }

    /// Starts a program in a process group of its own.
    ///
    /// - Parameters:
    ///   - path: The program's file.
    ///   - arguments: What follows its name.
    ///   - environment: All of its variables.
    ///   - descriptors: Its input, output and error output; every other file is closed to it.
    /// - Throws: ``Failure`` with the reason.
    init(
        _ path: String, _ arguments: [String],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        descriptors: (input: Int32, output: Int32, error: Int32)
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, descriptors.input, 0)
        posix_spawn_file_actions_adddup2(&actions, descriptors.output, 1)
        posix_spawn_file_actions_adddup2(&actions, descriptors.error, 2)
        guard let closeFrom = Self.closeFrom else {
            throw Failure(description: "glibc 2.34 or later is needed")
        }
        _ = closeFrom(&actions, 3)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))

        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var id: pid_t = 0
        let code = posix_spawn(&id, path, &actions, &attributes, &words, &variables)
        guard code == 0 else {
            throw Failure(description: "\(path) did not start: \(String(cString: strerror(code)))")
        }
        processIdentifier = id
    }

    deinit {
        guard exitStatus == nil else { return }
        kill(processIdentifier, SIGKILL)
        var raw: Int32 = 0
        while waitpid(processIdentifier, &raw, 0) < 0, errno == EINTR {}
    }

    /// The exit status, or 128 and a signal's number; nil while the process runs.
    var exitStatus: Int32? {
        status.withLock { status in
            var raw: Int32 = 0
            if status == nil, waitpid(processIdentifier, &raw, WNOHANG) == processIdentifier {
                let signal = raw & 0x7F
                status = signal == 0 ? raw >> 8 & 0xFF : 128 + signal
            }
            return status
        }
    }

    /// Sends a signal, unless the process has ended: its number may be another's by then.
    func signal(_ number: Int32) {
        guard exitStatus == nil else { return }
        kill(processIdentifier, number)
    }
}
