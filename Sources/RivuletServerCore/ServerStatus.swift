import RivuletWire

extension ACKStatus {
    /// 68, Rivulet's own: neither side of a customer message is the configured customer-service app.
    static let notCustomerService = ACKStatus(rawValue: 68)
}
