import { Box, Flex } from "@chakra-ui/react";
import { printKeys, setSingleKeys, useSingleKeys } from "../../lib/keys.ts";
import { SwitchField } from "../../ui/form/field.tsx";
import { useTexts } from "../../shared/texts.ts";
import { usePages } from "../use-pages.ts";
import { Modal } from "../../ui/feedback/modal.tsx";

/** The list of keyboard shortcuts that `?` opens. */
export function ShortcutSheet(props: { onClose(): void }) {
  const t = useTexts();
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
    ...pages.flatMap(({ key, label }) =>
      key === undefined ? [] : [[`g>${key}`, t("keyGo", { name: t(label) })] as const],
    ),
  ];
  return (
    <Modal title={t("shortcuts")} hasCross size="md" onClose={props.onClose}>
      <Box mb="4">
        <SwitchField label={t("singleKeys")} help={t("singleKeysHelp")} isOn={hasSingleKeys} onChange={setSingleKeys} />
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
    </Modal>
  );
}
