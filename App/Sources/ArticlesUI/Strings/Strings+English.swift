extension Strings {
    static let english: [Phrase: String] = [
        .appName: "Articles", .retry: "Try again", .cancel: "Cancel", .dismiss: "OK", .load: "Load",
        .launching: "Starting", .launchFailed: "The stored session cannot be read now.",

        .signIn: "Sign in", .signInAsGuest: "Continue as a guest", .signInWithApple: "Sign in with Apple",
        .signInWithKakao: "Sign in with Kakao", .signInWith: "Sign in with {provider}", .signingIn: "Signing in",
        .name: "Name", .photo: "Photo", .pickPhoto: "Choose a photo", .preparingPhoto: "Preparing the photo",
        .photoReady: "The photo is ready", .uploading: "Uploading: {percent}%", .register: "Start",

        .endedByServer: "The server has ended your session.",
        .endedByApplication: "Your session has ended: {reason}.", .endDetails: "({details})",
        .sessionEnded: "Please sign in again",
        .signInAgain: "Your draft is kept. After signing in you continue where you were.",
        .signedOutByUser: "You have signed out.", .signOut: "Sign out",
        .signOutIncomplete: "You are signed out, but the stored tokens could not be deleted yet.",

        .articles: "Articles", .noArticles: "There are no articles yet.", .loading: "Loading",
        .loadingMore: "Loading more", .endOfList: "These are all articles.",
        .showsStored: "You see what is stored on this device.", .newArticle: "New article", .byAuthor: "by {author}",
        .title: "Title", .text: "Text", .publish: "Publish", .publishing: "Publishing",
        .publishFailed: "The article was not published.", .draftKept: "Your draft is kept.",

        .errorUnknown: "Something went wrong. Try again.", .errorDetails: "({details})",
        .errorNoConnection: "The server cannot be reached. Check the connection and try again.",
        .errorTimedOut: "The server did not respond in time. Try again.",
        .errorInsecure: "The connection is not secure, so nothing was sent.",
        .errorServer: "The server has a problem. Try again later.",
        .errorNotFound: "This does not exist any more.", .errorForbidden: "You may not do this.",
        .errorRefused: "The server refused the request.",
        .errorTooMany: "There were too many requests. Wait a moment and try again.",
        .errorResponse: "The server sent something that this version cannot read.",
        .errorRequest: "The request could not be sent.", .errorSignIn: "Sign in to continue.",
        .errorProvider: "This login is not available here. Choose another one.",
        .errorRefresh: "Your session cannot be renewed now. You stay signed in. Try again later.",
        .errorStore: "The stored session cannot be read now. Unlock the device and try again.",
        .errorCancelled: "Cancelled.",
        .errorNotAnImage: "This file is not a photo. Choose another one.",
        .errorUnsupportedImage: "Photos of this format cannot be used. Choose a JPEG or PNG.",
        .errorImageTooLarge: "This photo is too large. Choose a smaller one.",
        .errorImageDamaged: "This photo is damaged. Choose another one.",
        .errorImageProcessing: "The photo could not be prepared. Choose another one.",
    ]
}
