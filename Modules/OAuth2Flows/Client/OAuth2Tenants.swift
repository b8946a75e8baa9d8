public import Foundation

/// Whose users may sign in at a server of many tenants, whose description names its issuer with `{tenantid}` in the
/// place of the tenant, as Microsoft Entra ID does at `common` and `organizations`.
///
/// ```swift
/// let server = try await OAuth2Server.discover(issuer: common, tenants: .only([contoso]), network: api)
/// ```
///
/// The issuer of an id token must then be that text with the tenant of the token (`tid`), which is a GUID. Where the
/// description names one issuer without a place for a tenant, that one is compared letter for letter.
public struct OAuth2Tenants: Sendable, Hashable {
    private static let placeholder = "{tenantid}"

    private let ids: Set<UUID>?

    /// The users of every tenant. The application decides by issuer and subject together who a user is.
    public static let all = OAuth2Tenants(ids: nil)

    /// The users of these tenants.
    public static func only(_ ids: Set<UUID>) -> OAuth2Tenants { OAuth2Tenants(ids: ids) }

    /// Whether an issuer is a template with one of the tenants, and with a token's tenant where one is given.
    func fit(_ issuer: String, to template: String, tenant: String?) -> Bool {
        guard let part = Self.tenant(in: issuer, at: template), let id = UUID(uuidString: part) else { return false }
        return part.hasSameBytes(as: tenant ?? part) && ids?.contains(id) ?? true
    }

    /// The part of an issuer's path that a template leaves open. `nil`: it differs elsewhere, or all of it is fixed.
    static func tenant(in issuer: String, at template: String) -> String? {
        let halves = template.components(separatedBy: placeholder)
        guard halves.count == 2 else { return nil }
        let tenant = String(issuer.dropFirst(halves[0].count).dropLast(halves[1].count))
        guard !tenant.isEmpty, !tenant.contains("/") else { return nil }
        return (halves[0] + tenant + halves[1]).hasSameBytes(as: issuer) ? tenant : nil
    }

    static func isTemplate(_ issuer: String) -> Bool { issuer.contains(placeholder) }
}

extension OAuth2Server {
    /// The one name of the server, where a text is another one of it.
    func issuer(named text: String) -> String { otherIssuers.contains { $0.hasSameBytes(as: text) } ? issuer : text }

    /// Whether an issuer is the server's, in a response or in an id token with its tenant.
    func isIssuer(_ text: String, tenant: String? = nil) -> Bool {
        let text = issuer(named: text)
        guard let tenants, OAuth2Tenants.isTemplate(issuer) else { return text.hasSameBytes(as: issuer) }
        return tenants.fit(text, to: issuer, tenant: tenant)
    }
}
