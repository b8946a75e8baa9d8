extension Strings {
    static let korean: [Phrase: String] = [
        .appName: "아티클", .retry: "다시 시도", .cancel: "취소", .dismiss: "확인", .load: "불러오기",
        .launching: "시작하는 중", .launchFailed: "저장된 세션을 지금 읽을 수 없습니다.",

        .signIn: "로그인", .signInAsGuest: "게스트로 계속하기", .signInWithApple: "Apple로 로그인",
        .signInWithKakao: "카카오로 로그인", .signInWith: "{provider}(으)로 로그인", .signingIn: "로그인하는 중",
        .name: "이름", .photo: "사진", .pickPhoto: "사진 선택", .preparingPhoto: "사진을 준비하는 중",
        .photoReady: "사진이 준비되었습니다", .uploading: "업로드 중: {percent}%", .register: "시작하기",

        .endedByServer: "서버에서 세션을 종료했습니다.",
        .endedByApplication: "세션이 종료되었습니다: {reason}.", .endDetails: "({details})",
        .sessionEnded: "다시 로그인해 주세요",
        .signInAgain: "작성 중인 글은 보관됩니다. 로그인하면 이전 화면에서 계속합니다.",
        .signedOutByUser: "로그아웃했습니다.", .signOut: "로그아웃",
        .signOutIncomplete: "로그아웃했지만 저장된 토큰을 아직 삭제하지 못했습니다.",

        .articles: "글 목록", .noArticles: "아직 글이 없습니다.", .loading: "불러오는 중",
        .loadingMore: "더 불러오는 중", .endOfList: "모든 글을 불러왔습니다.",
        .showsStored: "이 기기에 저장된 내용을 표시합니다.", .newArticle: "새 글", .byAuthor: "작성자: {author}",
        .title: "제목", .text: "내용", .publish: "게시", .publishing: "게시하는 중",
        .publishFailed: "글을 게시하지 못했습니다.", .draftKept: "작성 중인 글은 보관됩니다.",

        .errorUnknown: "문제가 발생했습니다. 다시 시도해 주세요.", .errorDetails: "({details})",
        .errorNoConnection: "서버에 연결할 수 없습니다. 연결을 확인하고 다시 시도해 주세요.",
        .errorTimedOut: "서버가 제시간에 응답하지 않았습니다. 다시 시도해 주세요.",
        .errorInsecure: "연결이 안전하지 않아 아무것도 보내지 않았습니다.",
        .errorServer: "서버에 문제가 있습니다. 나중에 다시 시도해 주세요.",
        .errorNotFound: "더 이상 존재하지 않습니다.", .errorForbidden: "이 작업을 할 권한이 없습니다.",
        .errorRefused: "서버가 요청을 거부했습니다.",
        .errorTooMany: "요청이 너무 많습니다. 잠시 후 다시 시도해 주세요.",
        .errorResponse: "이 버전에서 읽을 수 없는 응답을 받았습니다.",
        .errorRequest: "요청을 보내지 못했습니다.", .errorSignIn: "계속하려면 로그인해 주세요.",
        .errorProvider: "이 로그인은 여기에서 사용할 수 없습니다. 다른 방법을 선택해 주세요.",
        .errorRefresh: "지금은 세션을 갱신할 수 없습니다. 로그인은 유지됩니다. 나중에 다시 시도해 주세요.",
        .errorStore: "저장된 세션을 지금 읽을 수 없습니다. 기기의 잠금을 풀고 다시 시도해 주세요.",
        .errorCancelled: "취소되었습니다.",
        .errorNotAnImage: "사진 파일이 아닙니다. 다른 파일을 선택해 주세요.",
        .errorUnsupportedImage: "지원하지 않는 사진 형식입니다. JPEG 또는 PNG를 선택해 주세요.",
        .errorImageTooLarge: "사진이 너무 큽니다. 더 작은 사진을 선택해 주세요.",
        .errorImageDamaged: "사진이 손상되었습니다. 다른 사진을 선택해 주세요.",
        .errorImageProcessing: "사진을 준비하지 못했습니다. 다른 사진을 선택해 주세요.",
    ]
}
