extension InterfaceStrings {
    /// Simplified Chinese.
    public static let simplifiedChinese = InterfaceStrings(
        language: "zh-Hans", times: .simplifiedChinese,
        phrases: [
            .copy: "复制", .reply: "回复", .forward: "转发", .resend: "重新发送", .revoke: "撤回",
            .delete: "删除", .play: "播放", .pause: "暂停",

            .you: "我", .separator: "，", .sending: "发送中", .sent: "已发送", .delivered: "已送达",
            .wasRead: "已读", .readBy: "%1 人已读", .notSent: "未发送", .notSentBecause: "未发送：%1",
            .burnsAfterReading: "阅后即焚", .selected: "已选中", .notSelected: "未选中",
            .notSentRetry: "未发送 · 重试", .read: "已读", .readCount: "%1 人已读",

            .messages: "消息", .newMessages: "新消息", .newMessageCount: "%1 条新消息",
            .goToNewest: "跳到最新消息", .loadingMessages: "正在加载消息…",
            .emptyConversation: "还没有消息，打个招呼吧！", .loadFailed: "消息加载失败。", .tryAgain: "重试",
            .pageFailedRetry: "加载失败 · 重试", .earlierMessage: "较早的消息",

            .unknownContent: "当前版本无法显示此消息，请升级应用。", .revokedByYou: "你撤回了一条消息",
            .revokedByOther: "一条消息已被撤回", .erased: "一条消息已阅后焚毁", .refused: "[未送达]",

            .photo: "[图片]", .voice: "[语音 %1 秒]", .location: "[位置]", .locationAt: "[位置] %1",
            .video: "[视频]", .file: "[文件] %1", .link: "[链接] %1", .videoCall: "[视频通话]",
            .call: "[语音通话]", .groupCall: "[群通话]", .secret: "[加密消息]", .classroom: "[课堂]",
            .conference: "[会议]", .record: "[聊天记录] %1", .card: "[名片] %1", .sticker: "[表情]",
            .poll: "[投票] %1", .joinRequest: "[申请入群] %1",

            .groupCreated: "群聊“%1”已创建", .groupDisbanded: "群聊已解散", .memberLeft: "%1 退出了群聊",
            .memberJoined: "%1 加入了群聊", .groupRenamed: "群名称已改为“%1”", .groupNotice: "群公告：%1",
            .groupUpgraded: "已升级为超级群", .groupChanged: "群信息已变更",

            .voiceLabel: "语音消息，%1 秒", .soundFailed: "此处无法播放该语音", .unnamedFile: "未命名文件",
            .bytes: "%1 字节", .fileKind: "文件", .unnamedPlace: "地图上的位置", .cardKind: "个人名片",
            .unnamedUser: "用户 %1", .unnamedRecord: "聊天记录", .recordCount: "%1 条消息",
            .voiceCallTitle: "语音通话", .videoCallTitle: "视频通话", .callCancelled: "已取消",
            .callDeclined: "已拒绝", .callMissed: "无人接听", .callEnded: "已结束", .callGoesOn: "正在进行",
            .groupCallTitle: "群通话",

            .burningStays: "阅后即焚的消息不能转发。", .vetoed: "此处不允许这样做。", .wasRefused: "请求被拒绝。",
            .closed: "会话已关闭。", .timedOut: "等待超时。", .unsupported: "此处不支持该操作。",
            .notFound: "消息已不存在。", .busy: "消息正在发送中。", .notPossible: "无法对这条消息执行此操作。",
            .cancelled: "已取消。", .recordTooLong: "最多只能合并转发 %1 条消息。",
            .recordTooDeep: "聊天记录嵌套层数过多。", .recordTooLarge: "内容过大，无法合并转发。",
        ],
        pluralForm: { _ in 0 })
}
