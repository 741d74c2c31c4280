import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  title: "登录",
  username: "用户名",
  password: "密码",
  submit: "登录",
  expired: "未登录或登录已过期，请重新登录！",
  missing: "请输入用户名和密码！",
  passwordOff: "管理员已关闭密码登录。",
};
