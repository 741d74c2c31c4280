import { setLanguage, useLanguage } from "../../lib/i18n.ts";
import { isAdmin, useUser } from "../../session/session.ts";
import { useSignOut } from "../../shared/credentials/sign-out.ts";
import { useTexts } from "../../shared/texts.ts";
import { setThemeMode, useThemeMode } from "../../theme/theme-mode.ts";
import { isSheetOpen } from "../frame/overlays.ts";
import type { Item } from "./item.ts";

/** Actions of the palette that are always available; pages add more while they are open. */
export function useGlobalActions(): readonly Item[] {
  const t = useTexts();
  const user = useUser();
  const mode = useThemeMode();
  const language = useLanguage();
  const signOut = useSignOut();
  const operator: readonly Item[] = [
    { id: "add-channel", label: t("actAddChannel"), icon: "plus", to: "/channel/add" },
    { id: "add-user", label: t("actAddUser"), icon: "plus", to: "/user/add" },
    { id: "add-codes", label: t("actAddCodes"), icon: "plus", to: "/redemption/add" },
    { id: "add-budget", label: t("actAddBudget"), icon: "plus", to: "/budget/add" },
  ];
  const own: readonly Item[] = [{ id: "add-token", label: t("actAddToken"), icon: "plus", to: "/token/add" }];
  const everyone: readonly Item[] = [
    {
      id: "theme",
      label: t("actTheme"),
      icon: mode === "dark" ? "sun" : "moon",
      run: () => setThemeMode(mode === "dark" ? "light" : "dark"),
    },
    {
      id: "language",
      label: t("actLanguage"),
      icon: "globe",
      run: () => void setLanguage(language === "en" ? "zh" : "en"),
    },
    { id: "shortcuts", label: t("actShortcuts"), icon: "help", keys: "?", run: () => isSheetOpen.write(true) },
  ];
  const leave: readonly Item[] = [{ id: "exit", label: t("actExit"), icon: "exit", run: signOut }];
  return [...(user ? own : []), ...(isAdmin(user) ? operator : []), ...everyone, ...(user ? leave : [])];
}
