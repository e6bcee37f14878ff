import RivuletFlow
import RivuletModel
import Testing

/// Who types where, and when it is told.
struct TypingTests {
    private let mei = UserID(2)
    private let tom = UserID(3)
    private let hikers = Session.group(100)

    @Test func `a sign of typing counts for six seconds`() {
        var book = TypingBook()
        let answer1 = book.note(mei, in: hikers, isOn: true, at: .seconds(10))
        #expect(answer1)
        #expect(book.nextEnd == .seconds(16))
        let answer2 = book.expire(at: .milliseconds(15_999))
        #expect(answer2 == [])
        #expect(book.users(in: hikers) == [mei])
        let answer3 = book.expire(at: .seconds(16))
        #expect(answer3 == [hikers])
        #expect(book.users(in: hikers).isEmpty && book.nextEnd == nil)
    }

    @Test func `another sign prolongs it and changes nothing on the screen`() {
        var book = TypingBook()
        book.note(mei, in: hikers, isOn: true, at: .zero)
        book.note(tom, in: hikers, isOn: true, at: .seconds(1))
        let answer4 = book.note(mei, in: hikers, isOn: true, at: .seconds(4))
        #expect(!answer4)
        #expect(book.users(in: hikers) == [mei, tom])
        let answer5 = book.expire(at: .seconds(7))
        #expect(answer5 == [hikers])
        #expect(book.users(in: hikers) == [mei])
    }

    @Test func `a message, or the word that it stopped, ends it at once, in this conversation alone`() {
        var book = TypingBook()
        book.note(mei, in: hikers, isOn: true, at: .zero)
        book.note(mei, in: .peer(mei), isOn: true, at: .zero)
        let answer6 = book.noteMessage(by: mei, in: hikers)
        #expect(answer6)
        let answer7 = book.noteMessage(by: mei, in: hikers)
        #expect(!answer7)
        #expect(book.users(in: .peer(mei)) == [mei])
        let answer8 = book.note(mei, in: .peer(mei), isOn: false, at: .seconds(1))
        #expect(answer8)
        #expect(book.nextEnd == nil)
    }

    @Test func `whoever sends signs without end fills no memory`() {
        var book = TypingBook()
        for number in 1...2_000 {
            book.note(UserID(Int64(number)), in: hikers, isOn: true, at: .zero)
            book.note(mei, in: .group(Int64(1_000 + number)), isOn: true, at: .zero)
        }
        #expect(book.users(in: hikers).count == TypingBook.userCountMax)
        let answer9 = book.expire(at: .seconds(6))
        #expect(answer9.count == TypingBook.sessionCountMax)
        #expect(book.nextEnd == nil)
    }

    @Test func `the writer tells it every four seconds at most, and once that it stopped`() {
        var pace = TypingPace()
        let told = (0...20).map { pace.write(isEmpty: false, at: .milliseconds(500 * $0)) }
        #expect(told.enumerated().filter { $0.element == true }.map(\.offset) == [0, 8, 16])
        let answer10 = pace.write(isEmpty: true, at: .milliseconds(10_500))
        #expect(answer10 == false)
        let answer11 = pace.write(isEmpty: true, at: .milliseconds(10_600))
        #expect(answer11 == nil)
        // A new line within the four seconds waits for them.
        let answer12 = pace.write(isEmpty: false, at: .milliseconds(11_000))
        #expect(answer12 == nil)
        let answer13 = pace.write(isEmpty: false, at: .seconds(12))
        #expect(answer13 == true)
    }

    @Test func `nothing is taken back that ended by itself, or by a message`() {
        var pace = TypingPace()
        let answer14 = pace.stop(at: .zero)
        #expect(answer14 == nil)
        _ = pace.write(isEmpty: false, at: .zero)
        let answer15 = pace.stop(at: .seconds(6))
        #expect(answer15 == nil)
        _ = pace.write(isEmpty: false, at: .seconds(10))
        pace.noteSent()
        let answer16 = pace.stop(at: .seconds(11))
        #expect(answer16 == nil)
    }

    @Test func `rooms and customer service are never told`() {
        #expect(TypingPace.applies(to: .peer(mei)) && TypingPace.applies(to: hikers))
        #expect(!TypingPace.applies(to: .room(1)))
        #expect(!TypingPace.applies(to: Session(kind: .customer, id: 1, appID: 7)))
    }
}
