import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  burnDown: "本周期消费",
  burnDownOf: "{period}消费：{name}",
  burnDownReader: "图表中的时间",
  burnDownSummary: "额度 {limit} 已用 {used}，预计周期结束时为 {end}。",
  limitLine: "额度",
  forecast: "按当前速度",
  usedNow: "已用",
  budgets: "预算",
  ownAccount: "您的账户",
  accountOf: "账户 {name}",
  token: "令牌",
  periodDay: "每日",
  periodWeek: "每周",
  periodMonth: "每月",
  perPeriod: "{period}",
  of: "/",
  held: "预留",
  countsSince: "计入起始",
  spentHard: "已用尽，请求将被拒绝，直到",
  spentSoft: "已用尽，请求仍可继续，下一周期开始于",
  ends: "按当前速度将用尽于",
  lasts: "按当前速度够用，重新计算于",
};
