import Foundation
import ProgramTesting
import Testing

@testable import articles

/// The manual page, which is made of the help.
@Suite struct ManualTests {
    @Test func `the manual page has every command and option`() async throws {
        let home = Home()
        let page = try await home.run(["man"])
        #expect(page.status == 0 && page.errors.isEmpty)
        #expect(page.output.hasPrefix(".TH ARTICLES 1 "))
        let help = try CommandHelp.program
        for command in help.leaves {
            #expect(page.output.contains("\n.SS \(ManualPage.escaped(command.fullName)) "))
            #expect(command.abstract?.isEmpty == false, "\(command.fullName) has no abstract")
            for argument in command.displayed {
                #expect(argument.abstract?.isEmpty == false, "\(argument) of \(command.fullName) has no help")
                for name in argument.names ?? [] { #expect(page.output.contains(ManualPage.escaped(name.text))) }
            }
        }
        for section in ["NAME", "SYNOPSIS", "COMMANDS", "COMMON OPTIONS", "ENVIRONMENT", "FILES", "EXIT STATUS"] {
            #expect(page.output.contains("\n.SH \(section)\n"))
        }
        let option = #"\fB\-\-base\-url\fR"#
        #expect(page.output.components(separatedBy: option).count == 2, "a common option is described once")
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/groff")))
    func `the manual page is read without a warning`() async throws {
        let home = Home()
        let file = try home.file("articles.1", Data(try await home.run(["man"]).output.utf8))
        let groff = try await home.start(
            ["-man", "-ww", "-Tutf8", file], ["PATH": "/usr/bin:/bin"], URL(fileURLWithPath: "/usr/bin/groff"))
        let run = await groff.result
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(run.output.contains("ARTICLES(1)"))
    }

    @Test(arguments: [
        (".TH", "\\&.TH"),
        ("'x", "\\&'x"), ("a\\nb", "a\\enb"), ("--a", "\\-\\-a"), ("a\n.b", "a\n\\&.b"), ("…", "\\[u2026]"),
    ])
    func `no text is a request or an escape`(_ text: String, _ escaped: String) {
        #expect(ManualPage.escaped(text) == escaped)
    }
}
