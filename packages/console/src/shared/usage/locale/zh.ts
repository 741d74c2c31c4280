import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  spend: "消费",
  calls: "调用次数",
  errorRate: "错误率",
  errorRateHelp: "并非由客户端造成的失败调用；因限流、余额或参数错误被拒绝的调用不计入。",
  latency: "延迟 p50 / p95",
  firstToken: "首 Token p50 / p95",
  percentilesHelp: "一半的成功调用不超过前一个时间，95% 不超过后一个时间。",
  before: "较上一时段 {change}",
  beforeNone: "上一时段没有数据",
  points: "较上一时段 {points} 个百分点",
  callsTitle: "调用次数",
  latencyTitle: "延迟",
  spendTitle: "消费",
  empty: "此时段没有调用。",
  reader: "图表中的时间；按 Enter 打开对应日志",
  good: "成功",
  refused: "被拒绝",
  errors: "失败",
  p95Before: "上一时段 p95",
  callsSummary: "共 {calls} 次调用，其中失败 {errors}。",
  latencySummary: "成功调用的延迟：一半不超过 {p50}，95% 不超过 {p95}。",
  spendSummary: "共消费 {spend}。",
  subjectCalls: "{calls} 次调用 · 失败 {errors}",
};
