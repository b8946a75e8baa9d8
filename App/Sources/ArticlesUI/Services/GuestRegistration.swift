package import DataAPI
package import Foundation

/// Registers guests.
package protocol GuestRegistration: Sendable {
    /// Registers a guest and signs it in.
    ///
    /// - Parameters:
    ///   - name: The display name.
    ///   - photo: The prepared photo.
    ///   - progress: Is called on any thread with the uploaded part, from 0 to 1.
    /// - Returns: The guest; `nil`: the server does not name it, and has signed it in.
    /// - Throws: ``ScreenError``, or `CancellationError`.
    func registerGuest(
        name: String, photo: Data, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> User?
}

/// Prepares a picked photo for the upload: size, orientation, metadata.
package protocol PhotoPreparing: Sendable {
    /// - Throws: ``ScreenError`` that says what is wrong with the photo.
    func prepare(_ photo: Data) async throws -> Data
}

/// Signs in with the token of an identity provider.
package protocol SocialLogin: Sendable {
    /// - Returns: The user; `nil`: the server does not name the user, and has signed them in.
    func signIn(_ provider: SocialProvider, token: String) async throws -> User?
}

/// Makes the guest of the session the owner of an account at an identity provider.
package protocol GuestUpgrade: Sendable {
    /// - Returns: The user, who stays the same.
    /// - Throws: ``ScreenError``, with status 409 when the account or the user is in use already; `CancellationError`.
    func upgrade(_ provider: SocialProvider, token: String) async throws -> User
}

/// Obtains the token of an identity provider, from a sheet of the system or of the provider.
package protocol IdentityTokenSource: Sendable {
    /// - Throws: `CancellationError` when the user closes the sheet.
    func token(for provider: SocialProvider) async throws -> String
}
