import { SimpleGrid } from "@chakra-ui/react";
import { useState } from "react";
import { LANGUAGES, setLanguage, useLanguage, type Language } from "../../../lib/i18n.ts";
import { setSingleKeys, useSingleKeys } from "../../../lib/keys.ts";
import { stored } from "../../../lib/storage.ts";
import { setThemeMode } from "../../../theme/theme-mode.ts";
import { SelectField, SwitchField } from "../../../ui/form/field.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { useTexts } from "../texts.ts";

const MODES = ["light", "dark"] as const;
const SYSTEM = "";

/** The theme of the console and its keyboard shortcuts, stored in this browser. */
export function Appearance() {
  const t = useTexts();
  const language = useLanguage();
  const hasSingleKeys = useSingleKeys();
  const [theme, setTheme] = useState<string>(() => stored.themeMode.read() ?? SYSTEM);
  const changeTheme = (value: string) => {
    setTheme(value);
    setThemeMode(MODES.find((mode) => mode === value));
  };
  return (
    <FormSection title={t("appearance")}>
      <SimpleGrid columns={{ base: 1, sm: 2 }} gap="4">
        <SelectField
          label={t("theme")}
          value={theme}
          choices={[
            { value: SYSTEM, label: t("themeSystem") },
            { value: "light", label: t("themeLight") },
            { value: "dark", label: t("themeDark") },
          ]}
          onChange={changeTheme}
        />
        <SelectField
          label={t("language")}
          value={language}
          choices={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
          onChange={(value) => void setLanguage(value as Language)}
        />
      </SimpleGrid>
      <SwitchField label={t("singleKeys")} help={t("singleKeysHelp")} isOn={hasSingleKeys} onChange={setSingleKeys} />
    </FormSection>
  );
}
