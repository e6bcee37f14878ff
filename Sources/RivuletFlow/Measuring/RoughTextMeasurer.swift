/// Guesses the size of text without fonts: wide characters take a whole em, others a little more than half of one.
///
/// It is the default where no text engine is given, as in tests and on machines without a display; what is drawn
/// needs the engine that draws it.
public struct RoughTextMeasurer: TextMeasurer {
    /// Makes the measurer.
    public init() {}

    /// The guessed size of the text, broken anywhere.
    public nonisolated func size(of text: String, style: ComponentStyle, width: Double) -> LayoutSize {
        var lineCount = 1
        var line = 0.0
        var widest = 0.0
        for scalar in text.unicodeScalars {
            if scalar == "\n" {
                lineCount += 1
                line = 0
                continue
            }
            let advance = style.fontSize * (scalar.value < 0x1100 ? 0.55 : 1)
            if line > 0, line + advance > width {
                lineCount += 1
                line = 0
            }
            line += advance
            widest = max(widest, line)
        }
        return LayoutSize(width: min(widest, max(0, width)), height: Double(lineCount) * style.lineHeight)
    }
}
