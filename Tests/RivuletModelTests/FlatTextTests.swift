import Testing

@testable import RivuletModel

/// The short way of reading texts and the long one agree.
@Suite("Reading plain texts")
struct FlatTextTests {
    let codec = ContentCodec()

    @Test(arguments: [
        #"{"text":"x"}"#, #" { "text" : "x" , "uuid" : "u" } "#, #"{"uuid":"","text":""}"#,
        #"{"text":"a\n\t\"\\\/\b\f\r\u00e9\u4eac","uuid":"u","reference":"r","fallback":"f"}"#,
        #"{"text":"汉字 🀄️ é"}"#, #"{"reference":"","text":"x"}"#,
    ]) func `plain texts are read the short way`(raw: String) {
        #expect(FlatText.read(raw) == codec.decodeThoroughly(raw))
    }

    @Test(arguments: [
        "", "{", "{}", "x", #"{"text":5}"#, #"{"text":"x","at":[1]}"#, #"{"text":"x","text":"y"}"#,
        #"{"text":"x"} x"#, #"{"text":"x",}"#, #"{"uuid":"u"}"#, #"{"text":"\ud83d\ude00"}"#,
        #"{"text":"\x"}"#,
        "{\"text\":\"a\u{1}\"}", #"{"text":"x"#, #"{"text":"x\"#, #"{"text":"\u12"}"#,
        "\u{B}{\"text\":\"x\"}",
        #"{"uuid":"u","uuid":"v","text":"x"}"#,
    ]) func `everything else is left to the decoder`(raw: String) {
        #expect(FlatText.read(raw) == nil)
    }

    @Test(arguments: 1...20) func `pieces put together at random are read alike`(seed: UInt64) {
        var state = seed
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        let pieces = [
            "{", "}", ",", ":", "\"text\"", "\"uuid\"", "\"reference\"", "\"fallback\"", "\"x\"", "\"\"", " ",
            "\n",
            "\"\\u0041\"", "\"\\n\"", "\"\\q\"", "\"\\ud800\"", "5", "null", "[", "]", "\"京\"", "\"", "\\",
            "\"burn\"",
        ]
        for _ in 0..<2_000 {
            var raw = "{"
            for _ in 0..<(1 + next(3)) {
                let value = next(4) == 0 ? pieces[next(pieces.count)] : "\"v\""
                raw += pieces[4 + next(4)] + ":" + value + (next(3) == 0 ? pieces[next(pieces.count)] : ",")
            }
            raw.removeLast()
            raw += next(5) == 0 ? pieces[next(pieces.count)] : "}"
            if let short = FlatText.read(raw) {
                #expect(short == codec.decodeThoroughly(raw), "\(raw)")
            }
        }
    }
}
