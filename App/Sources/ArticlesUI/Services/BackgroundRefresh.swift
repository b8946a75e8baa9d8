import AuthInterface
import DataAPI

/// What the application does while it is not shown: it reads the newest articles for the next launch.
///
/// A token that has expired is refreshed on the way. If the system ends the task early, a refresh that is under way is
/// kept: the engine stores its result, or sends it again at the next launch.
package struct BackgroundRefresh: Sendable {
    /// The identifier of the task, which the Info.plist permits.
    package static let identifier = "latchkey.reader.refresh"

    /// The shortest time between two runs.
    package static let interval: Duration = .seconds(15 * 60)

    private let services: ScreenServices

    package init(services: ScreenServices) {
        self.services = services
    }

    /// Reads the first page of the list, which is stored, if there is a session.
    ///
    /// A failure changes nothing: the next launch shows what is stored, and reports errors itself.
    package func run() async {
        guard case .signedIn = try? await services.account.launch() else { return }
        _ = try? await services.articles.page(after: nil, limit: ArticleListModel.pageSize)
    }
}
