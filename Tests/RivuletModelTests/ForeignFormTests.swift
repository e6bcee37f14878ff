import RivuletModel
import Testing

/// What other generations of clients write (docs/protocol.md, sections 16.2, 16.3 and 21, pitfalls 30 to 32) is read,
/// and written again in the form that every generation reads.
@Suite("Foreign forms of contents")
struct ForeignFormTests {
    let codec = ContentCodec()

    /// The foreign form, what it says, and our form of it.
    static let forms: [(raw: String, content: MessageContent, ours: String)] = [
        (
            #"{"image":"u"}"#, .image(ImageContent(url: "u", width: 0, height: 0)),
            #"{"image":"u","image2":{"height":0,"url":"u","width":0}}"#
        ),
        (
            #"{"image2":{"url":"u","width":5,"height":6}}"#,
            .image(ImageContent(url: "u", width: 5, height: 6)),
            #"{"image":"u","image2":{"height":6,"url":"u","width":5}}"#
        ),
        (
            #"{"image2":{"url":"u","width":5.0,"height":6.9},"image":"thumb"}"#,
            .image(ImageContent(url: "u", width: 5, height: 6)),
            #"{"image":"u","image2":{"height":6,"url":"u","width":5}}"#
        ),
        (#"{"headline":{"headline":"h"}}"#, .headline("h"), #"{"headline":"h"}"#),
        (#"{"headline":"h"}"#, .headline("h"), #"{"headline":"h"}"#),
        (#"{"timebase":12}"#, .timeBase(12), #"{"timestamp":12}"#),
        (#"{"timestamp":12}"#, .timeBase(12), #"{"timestamp":12}"#),
        (
            #"{"video":{"url":"u","thumbnail":"t","width":1,"height":2,"duration":3}}"#,
            .video(VideoContent(url: "u", thumbnail: "t", width: 1, height: 2, durationSeconds: 3)),
            #"{"video":{"duration":3,"height":2,"size":0,"thumbnail":"t","url":"u","width":1}}"#
        ),
        (
            #"{"attachment":{"msg_id":3,"address":"a"}}"#,
            .attachment(AttachmentContent(messageNumber: 3, address: "a")),
            #"{"attachment":{"address":"a","msg_id":3}}"#
        ),
        (
            #"{"attachment":{"msg_id":3,"url":"u"}}"#,
            .attachment(AttachmentContent(messageNumber: 3, url: "u")),
            #"{"attachment":{"msg_id":3,"url":"u"}}"#
        ),
        (
            #"{"location":{"latitude":"31","longitude":2}}"#, .unknown(raw: "", fallback: nil), ""
        ),
        (
            #"{"voip":{"flag":2,"duration":0,"video_enabled":false}}"#,
            .call(CallContent(outcome: .refused, durationSeconds: 0, isVideo: false)),
            #"{"voip":{"duration":0,"flag":2,"video_enabled":false}}"#
        ),
        (
            #"{"group_voip":{"initiator":7,"finished":1}}"#,
            .groupCall(GroupCallContent(initiator: UserID(7), isFinished: true)),
            #"{"group_voip":{"finished":true,"initiator":7}}"#
        ),
        (
            #"{"classroom":{"master_id":1,"channel_id":"c","server_id":"12","mic_mode":"m"}}"#,
            .classroom(
                ConferenceContent(master: UserID(1), channelID: "c", serverID: 12, microphoneMode: "m")),
            #"{"classroom":{"channel_id":"c","master_id":1,"mic_mode":"m","server_id":12}}"#
        ),
        (
            #"{"notification":"{\"quit_group\":{\"group_id\":4,\"member_id\":3,\"timestamp\":8}}"}"#,
            .groupNotification(
                GroupNotification(groupID: 4, time: 8, change: .memberLeft(UserID(3), name: nil))),
            #"{"notification":"{\"quit_group\":{\"group_id\":4,\"member_id\":3,\"timestamp\":8}}"}"#
        ),
    ]

    @Test(arguments: forms) func `a foreign form is read and written in ours`(
        form: (raw: String, content: MessageContent, ours: String)
    ) throws {
        let content = try #require(codec.decode(form.raw).message)
        guard form.content.kind != .unknown else {
            // A value of the wrong type stays what it was.
            #expect(content == .unknown(raw: form.raw, fallback: nil))
            #expect(try codec.encode(content, envelope: ContentEnvelope()) == form.raw)
            return
        }
        #expect(content == form.content)
        let written = try codec.encode(content, envelope: ContentEnvelope())
        #expect(written == form.ours)
        #expect(codec.decode(written).message == content)
    }

    @Test(arguments: [
        #"{"create":{"group_id":1,"master":2,"name":"g","members":[2,3],"timestamp":9}}"#,
        #"{"create":{"group_id":1,"master":2,"name":"g","members":[{"uid":2,"name":"x"},{"uid":3}],"timestamp":9}}"#,
    ]) func `members of a new group are numbers or objects`(raw: String) throws {
        let notification = codec.decodeGroupNotification(raw)
        #expect(
            notification
                == GroupNotification(
                    groupID: 1, time: 9,
                    change: .created(master: UserID(2), name: "g", members: [UserID(2), UserID(3)])))
        #expect(codec.decodeGroupNotification(try codec.encode(notification)) == notification)
    }

    @Test(arguments: [
        #"{"revoke":{"msgid":"a"}}"#, #"{"readed":{"msgid":"a"}}"#, #"{"tag":{"msgid":"a","add_tag":"t"}}"#,
        #"{"tag":{"delete_tag":"t","msgid":"a"}}"#,
    ]) func `controls of mobile clients carry no uuid and come back as they were`(raw: String) throws {
        let decoded = codec.decode(raw)
        let control = try #require(decoded.control)
        #expect(decoded.envelope.uuid == nil)
        #expect(codec.decode(try codec.encode(control)) == decoded)
    }
}
