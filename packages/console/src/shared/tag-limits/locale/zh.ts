import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  section: "按标签或最终用户限制",
  help: "每一行限制带有某个标签值或某个最终用户的调用。值 * 代表没有单独一行的每个值，各自分别计数。被屏蔽的值会被拒绝。",
  fault: "每一行都需要标签的键、一个值或 *，以及大于 0 的整数。",
  key: "键",
  value: "值",
  rpm: "每分钟请求数",
  tpm: "每分钟 token 数",
  concurrency: "并发数",
  blocked: "屏蔽",
  add: "添加限制",
};
