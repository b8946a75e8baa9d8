/// A first-in, first-out queue.
///
/// - Complexity: Every operation is O(1), amortised.
struct Queue<Element: Sendable>: Sendable {
    private var added: [Element] = []
    /// The first elements, the next one last.
    private var leaving: [Element] = []

    var isEmpty: Bool { added.isEmpty && leaving.isEmpty }

    mutating func append(_ element: Element) { added.append(element) }

    mutating func popFirst() -> Element? {
        if leaving.isEmpty {
            swap(&added, &leaving)
            leaving.reverse()
        }
        return leaving.popLast()
    }
}
