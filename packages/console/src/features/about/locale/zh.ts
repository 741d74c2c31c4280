import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  title: "关于",
  emptyTitle: "{name} 由 Fairway 驱动",
  emptyBody: "Fairway 是一个开放的 AI 模型网关。本站的运营者尚未填写介绍。",
  write: "在设置中填写",
};
