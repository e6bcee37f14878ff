extension Server {
    /// Listens for the administration; a server without it serves its clients all the same.
    func startAdministration() async {
        let desk = AdminDesk(
            memberships: { [weak self] in
                guard let self else { throw Server.notRunning }
                return try await self.memberships()
            },
            apply: { [weak self] changes in
                guard let self else { throw Server.notRunning }
                return try await self.apply(changes)
            },
            tokens: TokenDesk(
                onAccounts: { [weak self] body in
                    guard let self else { throw Server.notRunning }
                    return try await self.runningNode().accountThread.perform(body)
                },
                endConnections: { [weak self] tokens in await self?.endConnections(of: tokens) },
                now: clock))
        do {
            keep(try AdminSocket(in: configuration.data, desk: desk))
        } catch {
            logger.log(
                .warning, "cannot listen for the administration", [("errno", "\(error.errno)")])
        }
    }
}
