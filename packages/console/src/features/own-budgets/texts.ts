import { defineTexts } from "../../lib/i18n.ts";
import { en } from "./locale/en.ts";

export const { useTexts } = defineTexts(en, async () => (await import("./locale/zh.ts")).zh);
