import { Box, Dialog, Flex, Portal } from "@chakra-ui/react";
import { printKeys, setSingleKeys, useSingleKeys } from "../../lib/keys.ts";
import { SwitchField } from "../../ui/form/field.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { useTexts as useUiTexts } from "../../ui/texts.ts";
import { useTexts } from "../../shared/texts.ts";
import { usePages } from "../use-pages.ts";

/** The `?` sheet. */
export function ShortcutSheet(props: { onClose(): void }) {
  const t = useTexts();
  const ui = useUiTexts();
  const pages = usePages();
  const hasSingleKeys = useSingleKeys();
  const rows: readonly (readonly [string, string])[] = [
    ["mod+k", t("keyPalette")],
    ["?", t("keySheet")],
    ["c", t("keyCreate")],
    ["/", t("keyFilter")],
    ["j / k", t("keyRows")],
    ["Enter", t("keyOpen")],
    ["x", t("keySelect")],
    ["e", t("keyEdit")],
    ["t", t("keyTest")],
    [".", t("keyMenu")],
    ["mod+Enter", t("keySave")],
    ["mod+z", t("keyUndo")],
    ["mod+b", t("collapse")],
    ...pages.map((page) => [`g>${page.key}`, t("keyGo", { name: t(page.label) })] as const),
  ];
  return (
    <Dialog.Root open onOpenChange={(change) => !change.open && props.onClose()} placement="center" size="md">
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Dialog.Title flex="1">{t("shortcuts")}</Dialog.Title>
              <IconButton label={ui("close")} hasTip={false} onClick={props.onClose}>
                <Icon name="close" />
              </IconButton>
            </Dialog.Header>
            <Dialog.Body>
              <Box mb="4">
                <SwitchField
                  label={t("singleKeys")}
                  help={t("singleKeysHelp")}
                  isOn={hasSingleKeys}
                  onChange={setSingleKeys}
                />
              </Box>
              <Box as="dl" columnGap="8" columnCount={{ base: 1, sm: 2 }}>
                {rows.map(([keys, text]) => (
                  <Flex key={keys} justify="space-between" gap="4" py="1.5" breakInside="avoid">
                    <Box as="dt">{text}</Box>
                    <Box as="dd">
                      <kbd className="kbd">{printKeys(keys)}</kbd>
                    </Box>
                  </Flex>
                ))}
              </Box>
            </Dialog.Body>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
