internal import CEditLine
internal import Synchronization

/// Why a line editor cannot be made.
public struct LineEditorError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong.
    public let message: String
    /// The message.
    public var description: String { message }
}

/// What a person did at the prompt.
public enum EditorInput: Hashable, Sendable {
    /// Entered a line; it has no line break.
    case line(String)
    /// Pressed Ctrl-D on an empty line, or the input ended.
    case endOfInput
    /// The process received a signal; the terminal is as it was before.
    case signal(EditorSignal)
    /// ``LineEditor/cancel()`` was called.
    case cancelled
}

/// Line editing with history on a terminal, while other threads print above the line.
///
/// One thread reads lines with ``readLine()``. Any thread may call ``show(_:id:)``: the text appears above the line being
/// typed, which is erased before and drawn again after, with the cursor where it was. libedit does the editing; this
/// class reads the keyboard for it, so that it can wait for keys, printing and signals at once.
@safe public final class LineEditor: @unchecked Sendable {  // Invariant: below.
    // `editor`, `history`, `prompt`, `decoder`, `lastBlock` and `ending` are used only by the thread inside
    // `readLine`, which `isReading` keeps to one at a time, and by `init` and `deinit`. Everything else is behind `shared`.
    private let editor: OpaquePointer
    private let history: OpaquePointer
    private let files: [UnsafeMutablePointer<FILE>]
    private let input: Int32
    private let output: Int32
    private let prompt: UnsafeMutablePointer<CChar>
    private let promptWidth: Int
    private let wake: WakePipe
    private let isReading = Atomic<Bool>(false)
    private let shared = Mutex<[Output]>([])
    private var decoder = KeyDecoder()
    private var lastBlock: (id: Int, rows: Int)?
    private var ending: EditorInput?

    private enum Output {
        case text(String, id: Int?)
        case update(id: Int, text: String, otherwise: String)
    }

    /// How many lines the history keeps.
    public static let historyLineCountMax: Int32 = 200
    /// How many texts may wait for being printed; beyond it the oldest are dropped.
    public static let pendingOutputCountMax = 10_000

    /// Takes a terminal.
    ///
    /// - Parameters:
    ///   - program: The name by which libedit knows the program.
    ///   - prompt: What stands before the line.
    ///   - input: The terminal's descriptor for reading.
    ///   - output: The terminal's descriptor for writing.
    ///   - catchesSignals: Whether Ctrl-C and the like end ``readLine()`` instead of the process.
    /// - Throws: ``LineEditorError`` when the descriptors are unusable.
    public init(
        program: String, prompt: String, input: Int32 = 0, output: Int32 = 1, catchesSignals: Bool = true
    ) throws(LineEditorError) {
        CharacterSet.prepare()
        wake = try WakePipe()
        self.input = input
        self.output = output
        promptWidth = displayWidth(of: prompt)
        // Duplicates: closing these files leaves the caller's descriptors open. All three are closed in `deinit`.
        guard let reader = unsafe fdopen(dup(input), "r"), let writer = unsafe fdopen(dup(output), "w"),
            let errors = unsafe fdopen(dup(output), "w"), let history = unsafe history_init()
        else { throw LineEditorError(message: "cannot use this terminal for line editing") }
        let made = unsafe EditLineLock.withLock {
            unsafe el_init_fd(program, reader, writer, errors, input, output, output)
        }
        guard let editor = unsafe made
        else { throw LineEditorError(message: "cannot use this terminal for line editing") }
        unsafe files = [reader, writer, errors]
        unsafe self.history = history
        unsafe self.editor = editor
        // A copy that lives as long as the editor, which reads it at every redraw.
        unsafe self.prompt = strdup(prompt)
        unsafe editkit_set_data(editor, Unmanaged.passUnretained(self).toOpaque())
        unsafe editkit_set_emacs(editor)
        unsafe editkit_use_history(editor, history, LineEditor.historyLineCountMax)
        unsafe editkit_set_prompt(editor) { editor in unsafe LineEditor.from(editor)?.prompt }
        unsafe editkit_set_reader(editor) { editor, out in
            guard let me = unsafe LineEditor.from(editor) else { return -1 }
            return unsafe me.nextKey(out)
        }
        if catchesSignals { wake.catchSignals() }
    }

    deinit {
        EditLineLock.withLock {
            unsafe el_end(editor)
            unsafe history_end(history)
        }
        unsafe files.forEach { unsafe fclose($0) }
        unsafe free(prompt)
    }

    // MARK: Reading

    /// Waits for the person; used by one thread at a time, and blocks it.
    ///
    /// An entered line is taken off the screen, so that the caller can print it in its own form; it joins the history.
    public func readLine() -> EditorInput {
        precondition(!isReading.exchange(true, ordering: .acquiring), "a line is being read already")
        defer { isReading.store(false, ordering: .releasing) }
        ending = nil
        var count: Int32 = 0
        let characters = unsafe EditLineLock.withLock {
            // libedit draws the prompt first and takes the terminal's echo away after it: too late for who types fast.
            unsafe editkit_prepare_terminal(editor, 1)
            return unsafe el_wgets(editor, &count)
        }
        guard let characters = unsafe characters, count > 0, ending == nil else {
            write("\r\n")
            return ending ?? .endOfInput
        }
        // libedit returned `count` characters, valid until its next call.
        let scalars = (0..<Int(count)).compactMap {
            Unicode.Scalar(UInt32(truncatingIfNeeded: unsafe characters[$0]))
        }
        var line = String(String.UnicodeScalarView(scalars))
        if line.hasSuffix("\n") { line.removeLast() }
        eraseEnteredLine(line)
        if !line.isEmpty { unsafe editkit_add_history(history, line) }
        return .line(line)
    }

    /// Gives signals their usual effect again, for the time after the last line.
    public func releaseSignals() {
        wake.releaseSignals()
    }

    /// Ends ``readLine()`` from another thread.
    public func cancel() {
        wake.send(.cancelled)
    }

    // MARK: Printing

    /// Prints text above the line being typed; callable on any thread.
    ///
    /// - Parameters:
    ///   - text: Lines without control characters but colours; printed as they are.
    ///   - id: A number by which ``update(_:text:otherwise:)`` finds the text again.
    public func show(_ text: String, id: Int? = nil) {
        post(.text(text, id: id))
    }

    /// Replaces a printed text when it still stands directly above the line, else prints another one.
    public func update(_ id: Int, text: String, otherwise: String) {
        post(.update(id: id, text: text, otherwise: otherwise))
    }

    /// Prints what waits, when nobody reads a line any more.
    public func flush() {
        precondition(!isReading.load(ordering: .acquiring), "a line is being read")
        write(renderPending())
    }

    /// The width of the terminal.
    public var columnCount: Int {
        Int(editkit_columns(output))
    }

    private func post(_ item: Output) {
        shared.withLock { list in
            if list.count >= LineEditor.pendingOutputCountMax { list.removeFirst() }
            list.append(item)
        }
        wake.send(.output)
    }

    // MARK: Waiting

    /// Gives libedit the next character: 1 with one, 0 at the end of input, −1 to give up the line.
    private func nextKey(_ out: UnsafeMutablePointer<wchar_t>?) -> Int32 {
        while true {
            if let scalar = decoder.next() {
                unsafe out?.pointee = wchar_t(bitPattern: scalar.value)
                return 1
            }
            let ready = EditLineLock.withoutLock { editkit_wait(input, wake.reader) }
            guard ready > 0 else {
                if ready == -EINTR { continue }
                return 0
            }
            if ready & 2 != 0 {
                for event in wake.receive() { handle(event) }
                if ending != nil { return -1 }
            }
            if ready & 1 != 0, let bytes = readBytes(from: input) {
                if bytes.isEmpty { return 0 }
                decoder.append(bytes)
            }
        }
    }

    private func handle(_ event: WakePipe.Event) {
        switch event {
        case .output:
            // Erase first: the cursor's place is known only while the line stands.
            let erased = eraseLine()
            let text = renderPending()
            guard !text.isEmpty else { return }
            write(erased + text)
            unsafe editkit_refresh(editor)
        case .cancelled:
            ending = .cancelled
        case .signal(let signal):
            ending = .signal(signal)
        case .resized:
            unsafe el_resize(editor)
        case .suspended:
            unsafe editkit_prepare_terminal(editor, 0)
            write("\r\n")
            wake.suspend()
            unsafe editkit_prepare_terminal(editor, 1)
            unsafe editkit_refresh(editor)
        }
    }

    // MARK: Drawing

    private func renderPending() -> String {
        let items = shared.withLock { exchange(&$0, with: []) }
        return items.map(render).joined()
    }

    private func render(_ item: Output) -> String {
        switch item {
        case .text(let text, let id):
            lastBlock = id.map { ($0, rowCount(of: text)) }
            return text.replacing("\n", with: "\r\n") + "\r\n"
        case .update(let id, let text, let otherwise):
            guard let block = lastBlock, block.id == id, block.rows > 0 else {
                return render(.text(otherwise, id: nil))
            }
            // Up to the first row of the old text, and away with everything from there.
            return "\u{1B}[\(block.rows)A\u{1B}[J" + render(.text(text, id: id))
        }
    }

    /// How many rows a text takes; 0 when it wraps, since terminals differ in where they wrap.
    private func rowCount(of text: String) -> Int {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let columns = columnCount
        return lines.allSatisfy { displayWidth(of: withoutColours($0)) < columns } ? lines.count : 0
    }

    /// Moves to the prompt's first column and clears from there.
    private func eraseLine() -> String {
        guard let info = unsafe el_wline(editor)?.pointee, let start = unsafe info.buffer,
            let cursor = unsafe info.cursor
        else { return "\r\n" }
        // `cursor` points into `buffer` or directly behind its last character.
        let count = unsafe max(0, cursor - start)
        let before = (0..<count).compactMap { Unicode.Scalar(UInt32(truncatingIfNeeded: unsafe start[$0])) }
        let row = cursorRow(after: before)
        return (row > 0 ? "\u{1B}[\(row)A" : "") + "\r\u{1B}[J"
    }

    /// Takes an entered line off the screen; the cursor stands at the start of the row below it.
    private func eraseEnteredLine(_ line: String) {
        lastBlock = nil
        let rows = cursorRow(after: Array(line.unicodeScalars)) + 1
        write("\u{1B}[\(rows)A\r\u{1B}[J")
    }

    /// The row of the cursor, counted from the prompt's, after these characters were typed.
    private func cursorRow(after scalars: [Unicode.Scalar]) -> Int {
        let columns = columnCount
        var row = promptWidth / columns
        var column = promptWidth % columns
        for scalar in scalars {
            // libedit shows a control character as two, such as ^A.
            let width = cellCount(of: scalar)
            let cells = width < 0 ? 2 : width
            if column + cells > columns {
                row += 1
                column = 0
            }
            column += cells
            if column == columns {
                row += 1
                column = 0
            }
        }
        return row
    }

    private func write(_ text: String) {
        guard !text.isEmpty else { return }
        var text = text
        unsafe fflush(files[1])
        text.withUTF8 { unsafe editkit_write_all(output, $0.baseAddress, UInt($0.count)) }
    }

    private static func from(_ editor: OpaquePointer?) -> LineEditor? {
        // The data is the unretained editor, which ends libedit's before it goes away.
        guard let editor = unsafe editor, let data = unsafe editkit_get_data(editor) else { return nil }
        return unsafe Unmanaged<LineEditor>.fromOpaque(data).takeUnretainedValue()
    }
}

/// The text without its colour sequences, which take no cells.
private func withoutColours(_ text: Substring) -> String {
    var result = ""
    var isSequence = false
    for character in text.unicodeScalars {
        if character == "\u{1B}" {
            isSequence = true
        } else if isSequence {
            isSequence = character != "m"
        } else {
            result.unicodeScalars.append(character)
        }
    }
    return result
}
