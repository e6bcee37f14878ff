import RivuletModel
import Testing

@testable import RivuletFlow

@Suite struct `Appearance layers` {
    @Test func `a later layer wins and sees what earlier ones made`() {
        let message = Message.sample(1)
        var sheet = AppearanceSheet()
        let radius = { @Sendable (sheet: AppearanceSheet) in
            sheet.appearance(of: .content, for: message).style.cornerRadius
        }
        #expect(radius(sheet) == 16)
        sheet.configure(.content, for: .kindInSession(.text)) { $0.style.cornerRadius += 1000 }
        #expect(radius(sheet) == 1016)
        sheet.configure(.content, for: .kind(.text)) { $0.style.cornerRadius += 100 }
        sheet.configure(.content, for: .session) { $0.style.cornerRadius = 1 }
        #expect(radius(sheet) == 1101)
        sheet.messageEdit = { _, component, appearance in
            if component == .content { appearance.style.cornerRadius *= 2 }
        }
        #expect(radius(sheet) == 2202)
    }

    @Test func `a kind's change leaves other kinds and components alone`() {
        var sheet = AppearanceSheet()
        sheet.configure(.content, for: .kind(.image)) { $0.visibility = .never }
        let text = sheet.appearances(for: .sample(1))
        #expect(text[.content].visibility == .always)
        var picture = Message.sample(2)
        picture.content = .image(ImageContent(url: "", width: 1, height: 1))
        #expect(sheet.appearance(of: .content, for: picture).visibility == .never)
        sheet.reset(.content, for: .kind(.image))
        #expect(sheet.appearance(of: .content, for: picture).visibility == .always)
    }

    @Test func `two sessions configured from one sheet share nothing`() {
        let shared = AppearanceSheet()
        var first = shared
        first.configure(.avatar, for: .session) { $0.visibility = .never }
        #expect(first.appearance(of: .avatar, for: .sample(1)).visibility == .never)
        #expect(shared.appearance(of: .avatar, for: .sample(1)).visibility != .never)
    }

    @Test func `a notice is centred and shows nothing but its content`() {
        var notice = Message.sample(1, session: .group(9))
        notice.content = .notice("Ada joined")
        let appearances = AppearanceSheet().appearances(for: notice)
        let composer = RowComposer(width: 600)
        #expect(MessageComponent.allCases.filter { composer.shows(appearances[$0]) } == [.content])
        #expect(appearances[.content].layout.alignment == .center)
    }
}

@Suite struct `Row composition` {
    private let group = Message.sample(1, session: .group(9))
    private func sizes(_ content: LayoutSize = LayoutSize(width: 200, height: 60)) -> ComponentValues<
        LayoutSize
    > {
        ComponentValues { component in
            switch component {
            case .avatar: LayoutSize(width: 36, height: 36)
            case .header: LayoutSize(width: 80, height: 16)
            case .content: content
            case .accessory: LayoutSize(width: 30, height: 16)
            case .footer: LayoutSize(width: 50, height: 10)
            }
        }
    }

    @Test func `an incoming row at the start of a run`() {
        let appearances = AppearanceSheet().appearances(for: group)
        let row = RowComposer(width: 600, gapAbove: 12).compose(sizes: sizes(), appearances: appearances)
        #expect(row.frames[.avatar] == LayoutRect(x: 20, y: 12, width: 36, height: 36))
        #expect(row.frames[.header] == LayoutRect(x: 64, y: 12, width: 80, height: 16))
        #expect(row.frames[.content] == LayoutRect(x: 64, y: 32, width: 200, height: 60))
        #expect(row.frames[.accessory] == nil)
        #expect(row.frames[.footer] == nil)
        #expect(row.height == 92)
    }

    @Test func `a later row of a run keeps the avatar's column without its avatar`() {
        let appearances = AppearanceSheet().appearances(for: group)
        let row = RowComposer(width: 600, gapAbove: 2, isRunStart: false)
            .compose(sizes: sizes(), appearances: appearances)
        #expect(row.frames[.avatar] == nil)
        #expect(row.frames[.header] == nil)
        #expect(row.frames[.content] == LayoutRect(x: 64, y: 2, width: 200, height: 60))
        #expect(row.height == 62)
    }

    @Test func `an outgoing row is mirrored, with its accessory at the bottom line`() {
        let appearances = AppearanceSheet().appearances(for: .sample(1, isOutgoing: true))
        let row = RowComposer(width: 600, isOutgoing: true).compose(sizes: sizes(), appearances: appearances)
        #expect(row.frames[.content] == LayoutRect(x: 380, y: 0, width: 200, height: 60))
        #expect(row.frames[.accessory] == LayoutRect(x: 346, y: 44, width: 30, height: 16))
        #expect(row.frames[.avatar] == nil)
    }

    @Test(arguments: [false, true], [320.0, 600, 1200])
    func `right to left is the mirror of left to right`(isOutgoing: Bool, width: Double) {
        let appearances = AppearanceSheet().appearances(for: group)
        var composer = RowComposer(width: width, isOutgoing: isOutgoing)
        let left = composer.compose(sizes: sizes(), appearances: appearances)
        composer.direction = .rightToLeft
        let right = composer.compose(sizes: sizes(), appearances: appearances)
        #expect(left.height == right.height)
        for component in MessageComponent.allCases {
            #expect(left.frames[component]?.mirrored(inWidth: width) == right.frames[component])
        }
    }

    @Test func `a bubble is at most 460 wide or 72 % of the flow`() {
        let appearances = AppearanceSheet().appearances(for: .sample(1))
        #expect(RowComposer(width: 1000).fittingSize(of: .content, in: appearances).width == 460)
        #expect(RowComposer(width: 500).fittingSize(of: .content, in: appearances).width == 360)
        #expect(RowComposer(width: 0).fittingSize(of: .content, in: appearances).width == 0)
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `components never overlap and never leave the flow`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let width = Double.random(in: 120...1400, using: &generator)
            let isOutgoing = Bool.random(using: &generator)
            let appearances = AppearanceSheet().appearances(
                for: .sample(1, isOutgoing: isOutgoing, session: .group(4)))
            let composer = RowComposer(
                width: width, isOutgoing: isOutgoing, isRunStart: Bool.random(using: &generator),
                direction: Bool.random(using: &generator) ? .leftToRight : .rightToLeft)
            let sizes = ComponentValues { _ in
                LayoutSize(
                    width: Double.random(in: 0...900, using: &generator),
                    height: Double.random(in: 0...900, using: &generator))
            }
            let row = composer.compose(sizes: sizes, appearances: appearances)
            let frames = MessageComponent.allCases.compactMap { row.frames[$0] }
            for (index, frame) in frames.enumerated() {
                #expect(frame.minX >= -0.001 && frame.maxX <= width + 0.001)
                #expect(frame.minY >= 0 && frame.maxY <= row.height + 0.001)
                for other in frames[(index + 1)...] { #expect(!frame.overlaps(other)) }
            }
        }
    }
}
