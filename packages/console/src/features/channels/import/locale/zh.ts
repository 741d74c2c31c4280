import type { Translation } from "../../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  title: "导入渠道",
  help: "LiteLLM（YAML）或 Bifrost（JSON）的配置：其中的渠道、价格、别名和重试设置。已有的内容保持不变。",
  file: "文件",
  config: "配置",
  variables: "变量",
  variablesHelp: "每行一个“名称=值”，供配置中引用的环境变量使用。网关不会读取自己的环境变量。",
  badVariable: "每行请写成“名称=值”。",
  fromUpstream: "缺少的价格取自渠道自己的地址",
  former: "原网关的地址",
  formerHelp: "可选：没有价格的模型采用该网关公布的价格。",
  empty: "请选择文件，或粘贴配置。",
  tooLong: "文件超过大小上限。",
  dryRun: "试运行",
  run: "导入",
  wouldDo: "导入将会做什么",
  done: "已导入的内容",
  imported: "配置已导入。",
};
