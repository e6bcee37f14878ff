import Foundation
import RivuletFlow
import RivuletModel
import RivuletUI

/// A picture that travels inside its message: a `data:` address with the bytes of a small JPEG.
///
/// The server keeps no files, so this is how a picture reaches the others without another service.
nonisolated enum InlinePicture {
    static let prefix = "data:image/jpeg;base64,"
    /// A frame has 32,767 bytes, the content names the address twice, and base64 makes four bytes of three.
    static let byteCountMax = 11_000
    /// The largest extents that are tried, in pixels.
    static let sides = [640, 480, 360, 240, 160]
    /// The largest file that is read.
    static let fileByteCountMax = 50 * 1_024 * 1_024

    static func address(of data: Data) -> String { prefix + data.base64EncodedString() }

    static func data(in address: String) -> Data? {
        guard address.hasPrefix("data:image/"), let comma = address.firstIndex(of: ","),
            address[..<comma].hasSuffix(";base64")
        else { return nil }
        return Data(base64Encoded: String(address[address.index(after: comma)...]))
    }
}

/// Why a picture cannot be sent, as its row then says.
nonisolated struct PictureFailure: PresentableFailure {
    let failureReason: String
}

/// Makes a picture of the user's small and puts it into the message, while its row is shown already.
nonisolated struct PicturePreparation: MessageServicePreparation {
    @concurrent
    func prepareSend(message: Message, in session: Session) async throws -> Message {
        guard case .image(let picture) = message.content, let file = URL(string: picture.url), file.isFileURL
        else { return message }
        let data: Data
        do {
            data = try Data(contentsOf: file, options: .mappedIfSafe)
        } catch {
            throw PictureFailure(failureReason: "The picture cannot be read.")
        }
        guard data.count <= InlinePicture.fileByteCountMax,
            let small = PlatformImage.shrink(
                data, sides: InlinePicture.sides, byteCountMax: InlinePicture.byteCountMax)
        else { throw PictureFailure(failureReason: "This picture cannot be sent.") }
        var message = message
        message.content = .image(
            ImageContent(
                url: InlinePicture.address(of: small.data), width: small.width, height: small.height))
        return message
    }
}
