import { Button, Flex, Portal, Text } from "@chakra-ui/react";
import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";
import { IconButton } from "./icon-button.tsx";
import { useTexts } from "./texts.ts";

/** What can be done with the selected rows; floats at the bottom while something is selected. */
export function BulkBar(props: { readonly count: number; onClear(): void; readonly children: ReactNode }) {
  const t = useTexts();
  if (props.count === 0) return null;
  return (
    <Portal>
      <Flex
        role="region"
        aria-label={t("selected", { count: props.count })}
        position="fixed"
        bottom="5"
        insetStart="50%"
        transform="translateX(-50%)"
        zIndex="sticky"
        align="center"
        gap="2"
        bg="bg.panel"
        borderWidth="1px"
        borderColor="border.emphasized"
        borderRadius="l3"
        boxShadow="lg"
        ps="4"
        pe="2"
        py="2"
        maxW="calc(100vw - 32px)"
        wrap="wrap"
      >
        <Text fontWeight="medium" whiteSpace="nowrap">
          {t("selected", { count: props.count })}
        </Text>
        {props.children}
        <IconButton label={t("clearSelection")} onClick={props.onClear}>
          <Icon name="close" />
        </IconButton>
      </Flex>
    </Portal>
  );
}

export function BulkButton(props: { readonly label: string; readonly isDangerous?: boolean; run(): void }) {
  return (
    <Button variant="outline" color={props.isDangerous ? "fg.error" : "fg"} onClick={() => props.run()}>
      {props.label}
    </Button>
  );
}
