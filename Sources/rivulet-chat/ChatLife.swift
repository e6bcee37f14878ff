import Foundation
import RivuletClient
import RivuletClientCore
import RivuletEngine
import RivuletHTTPEngine
import RivuletModel
import RivuletStore
import RivuletUI

/// What lives from the first window to the last: the account, the demonstration's server, the window.
final class ChatLife {
    private let options: ChatOptions
    private var account: ChatAccount?
    private var demo: DemoWorld?
    private var lock: AccountLock?
    private var window: ChatWindow?
    private var model: AccountModel?
    private var opening: Task<Void, Never>?
    /// Why the program could not go on.
    private(set) var failure: (any Error)?

    init(_ options: ChatOptions) {
        self.options = options
    }

    func begin() {
        opening = Task {
            do {
                try await open()
            } catch {
                failure = error
                PlatformApplication.quit()
            }
        }
    }

    private func open() async throws {
        let contacts = Contacts(names: options.names)
        let opened: ChatAccount
        let settingsPath: String
        if options.isDemo {
            let demo = try await DemoWorld.make()
            self.demo = demo
            demo.fill(contacts)
            opened = demo.guest
            settingsPath = demo.folder + "/settings.json"
        } else {
            let identity = ClientIdentity(
                uid: options.user?.rawValue ?? 0, token: options.token, deviceID: try device())
            lock = try lockAccount()
            var service = IMServiceConfiguration(
                endpoints: [ClientEndpoint(host: options.host, port: options.port)], identity: identity)
            service.sendsDeliveryReceipts = true
            settingsPath = accountFile.settingsPath
            opened = try ChatAccount.open(
                in: options.store, service: service, codec: try BurnedNote.makeCodec())
        }
        account = opened
        let settings = SettingsDesk(path: settingsPath, standard: options.theme)
        if let demo { settings.change { $0.rooms = demo.rooms } }
        settings.apply()
        let model = AccountModel(
            account: opened, contacts: contacts, images: ImageStore(),
            roomHistory: roomHistory(for: opened))
        self.model = model
        model.rooms.onRooms = { rooms in settings.change { $0.rooms = rooms } }
        let window = ChatWindow(model: model, settings: settings, size: options.size)
        self.window = window
        window.onClose = { PlatformApplication.quit() }
        try await model.load()
        model.start()
        await model.rooms.load(settings.settings.rooms)
        window.show()
        demo?.start()
        if let partner = options.partner {
            window.open(.peer(partner))
        } else if let first = demo?.firstSession {
            window.open(first)
        }
    }

    /// What was said in rooms before, where the server's HTTP interface is known.
    private func roomHistory(for account: ChatAccount) -> HTTPEngine? {
        guard let base = demo?.http ?? options.http else { return nil }
        let token = demo?.guestToken ?? options.token
        var http = HTTPEngineOptions()
        http.authorization = { _ in "Bearer \(token)" }
        return HTTPEngine(
            user: account.user, base: base,
            mapping: .rivuletHistory(user: account.user, codec: account.codec), options: http)
    }

    private var accountFile: AccountFile {
        AccountFile(
            folder: options.store, user: options.user ?? UserID(0), host: options.host, port: options.port)
    }

    /// Takes the account for this process: two clients with one outbox would number their messages alike.
    private func lockAccount() throws -> AccountLock {
        let user = options.user ?? UserID(0)
        do {
            return try accountFile.lock()
        } catch let error as StoreError where error.code == .busy {
            throw ChatError(
                "another program is connected as user \(user.rawValue) with the folder \(options.store); end it or "
                    + "name another folder with --store")
        } catch {
            throw ChatError("cannot write in the folder \(options.store); name another one with --store")
        }
    }

    /// The made-up name of this device, kept beside the messages so that the server knows it again.
    private func device() throws -> String {
        let path = options.store + "/device"
        if let known = FileManager.default.contents(atPath: path) {
            let text = String(decoding: known, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            if !text.isEmpty { return text }
        }
        let made = "rivulet-" + UUID().uuidString.lowercased()
        do {
            try FileManager.default.createDirectory(
                atPath: options.store, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try Data((made + "\n").utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw ChatError("cannot write in the folder \(options.store); name another one with --store")
        }
        return made
    }

    /// Closes everything; the main loop has ended and is run a little longer for that.
    func end() {
        opening?.cancel()
        window?.close()
        model?.stop()
        var isDone = false
        Task {
            if let account { await account.close() }
            if let demo { await demo.stop() }
            isDone = true
        }
        let end = ContinuousClock.now.advanced(by: .seconds(5))
        while !isDone, ContinuousClock.now < end { PlatformApplication.run(for: .milliseconds(20)) }
    }
}

extension AccountFile {
    /// Where the user's choices for the window are kept, beside the messages.
    var settingsPath: String { URL(filePath: path).deletingPathExtension().path + ".settings.json" }
}
