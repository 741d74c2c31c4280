/** A whole answer of the Messages protocol, for scripts of the fake upstream. */
export const MESSAGES_ANSWER = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "ok" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 20, output_tokens: 5 },
};
