/// Articles on a terminal: a line for each, as wide as the terminal and no wider.
struct ArticleTable {
    private static let gap = "  "
    private static let dateWidth = 10
    private static let minimumTitleWidth = 20
    private static let maximumAuthorWidth = 18

    private let terminal: Terminal
    private let idWidth: Int
    private let titleWidth: Int
    /// Zero where there is no room.
    private let authorWidth: Int

    /// Creates a table of rows with the identifier, the title, the author and the date of an article.
    init(_ rows: [[String]], terminal: Terminal) {
        func widest(_ column: Int) -> Int { rows.map { $0[column].columns }.max() ?? 0 }
        self.terminal = terminal
        idWidth = max(2, widest(0))
        let author = min(max(widest(2), 6), Self.maximumAuthorWidth)
        let rest = terminal.columns - idWidth - Self.dateWidth - 2 * Self.gap.count
        let isNarrow = rest - author - Self.gap.count < Self.minimumTitleWidth
        authorWidth = isNarrow ? 0 : author
        titleWidth = max(1, isNarrow ? rest : rest - author - Self.gap.count)
    }

    /// The names of the columns.
    var heading: String { terminal.faint(join(cells(["ID", "TITLE", "AUTHOR", "DATE"]))) }

    /// An article.
    func line(_ row: [String]) -> String {
        let cells = cells(row)
        return join([terminal.styled(cells[0], .yellow), cells[1]] + cells.dropFirst(2).map(terminal.faint))
    }

    /// The cells at their widths. A date is its day.
    private func cells(_ row: [String]) -> [String] {
        let cells = [row[0].fitted(to: idWidth), row[1].fitted(to: titleWidth)]
        return cells + (authorWidth > 0 ? [row[2].fitted(to: authorWidth)] : []) + [
            String(row[3].prefix(Self.dateWidth))
        ]
    }

    private func join(_ cells: [String]) -> String { cells.joined(separator: Self.gap) }
}
