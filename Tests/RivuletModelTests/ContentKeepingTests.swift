import RivuletModel
import Testing

/// What a build does not know of a message stays in it when it is written again (docs/extensions.md, section 1).
@Suite("Contents written again")
struct ContentKeepingTests {
    let codec = ContentCodec()

    @Test(arguments: [
        (
            #"{"text":"old","uuid":"u","mood":"happy"}"#,
            #"{"text":"new","uuid":"u","mood":"happy"}"#
        ),
        // Numbers of any length, nesting, spaces, escapes and keys that occur twice stay letter for letter.
        (
            #"{ "x" : [1, {"y":"}\""}] , "text" : "old", "big":123456789012345678901234567890.50,"uuid":"u"}"#,
            #"{"text":"new","uuid":"u","x" : [1, {"y":"}\""}],"big":123456789012345678901234567890.50}"#
        ),
        (
            #"{"te\u0078t":"old","at":[1],"at_name":["a"],"format":"f","stream":1,"e\"":null,"uuid":"u"}"#,
            #"{"text":"new","uuid":"u","e\"":null}"#
        ),
        // The key of another kind has no meaning beside a text, and none is given to it.
        (#"{"text":"old","image":"i","uuid":"u"}"#, #"{"text":"new","uuid":"u","image":"i"}"#),
        (#"{"text":"old","a":1,"a":2}"#, #"{"text":"new","uuid":"u","a":1,"a":2}"#),
        (#"{"text":"old"}"#, #"{"text":"new","uuid":"u"}"#), ("old", #"{"text":"new","uuid":"u"}"#),
        (#"{"text":"old","x":1"#, #"{"text":"new","uuid":"u"}"#),
    ]) func `a changed text keeps what is not known of it`(raw: String, expected: String) throws {
        let envelope = ContentEnvelope(uuid: "u")
        let written = try codec.encode(.text("new"), envelope: envelope, keeping: raw)
        #expect(written == expected)
        #expect(codec.decode(written) == DecodedContent(envelope: envelope, body: .message(.text("new"))))
        // Once more changes nothing.
        #expect(try codec.encode(.text("new"), envelope: envelope, keeping: written) == written)
    }

    @Test(arguments: ContentCodecTests.contents)
    func `every kind keeps what is not known of it`(content: MessageContent) throws {
        let envelope = ContentEnvelope(uuid: "u", reference: "r", fallback: "f", burnSeconds: 4)
        let plain = try codec.encode(content, envelope: envelope)
        let raw = String(plain.dropLast()) + #","extra":{"deep":[1.50]}}"#
        let written = try codec.encode(content, envelope: envelope, keeping: raw)
        #expect(written == raw)
        #expect(codec.decode(written) == DecodedContent(envelope: envelope, body: .message(content)))
    }

    @Test(arguments: [
        (
            #"{"image2":{"url":"u","width":1,"height":2,"blur":"x"},"uuid":"old","more":1.0,"reference":"r"}"#,
            #"{"image2":{"url":"u","width":1,"height":2,"blur":"x"},"more":1.0,"uuid":"new"}"#
        ),
        (
            #"{"unheard":{"of":1},"burn":{"seconds":3},"store_id":7,"group_id":2}"#,
            #"{"unheard":{"of":1},"uuid":"new"}"#
        ),
        ("{}", #"{"uuid":"new"}"#), (" { } ", #"{"uuid":"new"}"#),
    ]) func `what is sent on stays as it was, under a name of its own`(raw: String, expected: String) {
        #expect(codec.rewrap(raw, in: ContentEnvelope(uuid: "new")) == expected)
    }

    @Test(arguments: [
        "", "words", "[1]", "{", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":tru}"#, #"{"a":1} x"#,
    ])
    func `what is no object is not wrapped`(raw: String) {
        #expect(codec.rewrap(raw, in: ContentEnvelope(uuid: "new")) == nil)
    }

    @Test func `an unknown kind that is sent on gets the new name`() throws {
        let raw = #"{"unheard":{"of":[1]},"uuid":"old","fallback":"f"}"#
        let decoded = codec.decode(raw)
        let content = try #require(decoded.message)
        #expect(try codec.encode(content, envelope: decoded.envelope) == raw)
        let copy = try codec.encode(content, envelope: ContentEnvelope(uuid: "new", fallback: "f"))
        #expect(codec.decode(copy).envelope == ContentEnvelope(uuid: "new", fallback: "f"))
        #expect(copy.contains(#""unheard":{"of":[1]}"#))
    }
}
