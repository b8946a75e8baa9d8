import AuthInterface
import Foundation
import Testing

@testable import Storage

/// The program dies after the first call of the Keychain, after the second, and so on until it completes. Each time it
/// is restarted with the remaining items.
@Suite("G12: a crash at any call loses nothing", .timeLimit(.minutes(10))) struct KeychainCrashTests {
    /// The location of the session at the start.
    enum Layout: CaseIterable {
        case olderService
        case separateTokens
        case otherGroup
        case olderFormat
        case severalAtOnce

        var predecessors: [KeychainPredecessor] {
            switch self {
            case .olderService: [.bundle(at: .older)]
            case .separateTokens: [.twoTokens]
            case .otherGroup: [.bundle(at: .own)]
            case .olderFormat:
                [
                    .bundle(at: location) { data in
                        TokenBundle(accessToken: String(decoding: data, as: UTF8.self), refreshToken: "refresh-1")
                    }
                ]
            case .severalAtOnce: [.bundle(at: .older), .twoTokens]
            }
        }

        var location: KeychainLocation { self == .otherGroup ? .own.inGroup("shared.group") : .own }

        func model() throws -> ModelKeychain {
            let model = ModelKeychain()
            let bundle = try TokenBundle.numbered(1).stored
            switch self {
            case .olderService: model.insert(bundle, at: .older)
            case .otherGroup: model.insert(bundle, at: .own)
            case .olderFormat: model.insert(Data("access-1".utf8), at: location)
            case .separateTokens: model.insertTokens("access-1", "refresh-1")
            case .severalAtOnce:
                model.insert(bundle, at: .older)
                model.insertTokens("access-0", "refresh-0")
            }
            return model
        }

        func store(_ items: any KeychainItems) -> KeychainTokenStore {
            .over(items, at: location, predecessors: predecessors)
        }
    }

    @Test(arguments: Layout.allCases)
    func `an interrupted move is completed later`(layout: Layout) async throws {
        let lives = try await ModelKeychain.forEveryDeath(over: layout.model) { model, dying in
            let early = try? await layout.store(dying).load()
            let reopened = layout.store(model)
            let bundle = try #require(try await reopened.load())
            #expect(bundle.accessToken == "access-1")
            #expect(bundle.refreshToken == "refresh-1")
            if let early { #expect(bundle == early, "what was published is what is stored") }
            #expect(model.items.count == 1, "nothing old is left")
            #expect(try await layout.store(model).load() == bundle)
        }
        #expect(lives > 3)
    }

    /// A later session, which was saved meanwhile, or none.
    @Test(arguments: Layout.allCases, [nil, TokenBundle.numbered(5, of: SessionID(rawValue: "session-2"))])
    func `an interrupted sign-out leaves all of the session or none`(layout: Layout, later: TokenBundle?) async throws {
        let lives = try await ModelKeychain.forEveryDeath(over: layout.model) { model, dying in
            if let later, layout == .olderFormat {
                try await layout.store(model).save(later)
            } else if let later {
                try model.insert(later.stored, at: layout.location)
            }
            let isDone: Void? = try? await layout.store(dying).delete()
            let bundle = try await layout.store(model).load()
            if isDone != nil { #expect(bundle == nil) }
            guard let bundle else { return }
            let isWhole =
                bundle.refreshToken == "refresh-1"
                && (bundle.accessToken == "access-1" || bundle.isExpired(at: .distantPast))
            #expect(later.map { bundle == $0 } ?? isWhole)
        }
        #expect(lives > 1)
    }

    @Test(arguments: Layout.allCases)
    func `an interrupted sign-in leaves the old session or the new one`(layout: Layout) async throws {
        let new = TokenBundle.numbered(5, of: SessionID(rawValue: "session-2"))
        let lives = try await ModelKeychain.forEveryDeath(over: layout.model) { model, dying in
            let isDone: Void? = try? await layout.store(dying).save(new)
            let bundle = try #require(try await layout.store(model).load())
            #expect(bundle == new || bundle.refreshToken == "refresh-1")
            if isDone != nil { #expect(bundle == new) }
            #expect(model.items.count == 1, "nothing old is left")
        }
        #expect(lives > 2)
    }
}
