import { LANGUAGES, setLanguage, useLanguage } from "../../lib/i18n.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { useTexts } from "../texts.ts";
import { setThemeMode, useThemeMode } from "../../theme/theme-mode.ts";

export function ThemeButton() {
  const t = useTexts();
  const mode = useThemeMode();
  return (
    <IconButton
      label={t(mode === "dark" ? "toLight" : "toDark")}
      onClick={() => setThemeMode(mode === "dark" ? "light" : "dark")}
    >
      <Icon name={mode === "dark" ? "sun" : "moon"} />
    </IconButton>
  );
}

export function LanguageButton() {
  const t = useTexts();
  const language = useLanguage();
  return (
    <IconButton
      label={t("language", { name: LANGUAGES[language] })}
      onClick={() => void setLanguage(language === "en" ? "zh" : "en")}
    >
      <Icon name="globe" />
    </IconButton>
  );
}
