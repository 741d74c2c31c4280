import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useEffect, useState } from "react";
import { createPortal } from "react-dom";
import { useStore } from "../../lib/store.ts";
import { Icon } from "../display/icon.tsx";
import { IconButton } from "../display/icon-button.tsx";
import { MarkShape } from "../display/mark.tsx";
import { useTexts } from "../texts.ts";
import { dismissToast, toasts, type Toast } from "./toaster.ts";

const SHAPE = { success: "go", error: "stop", info: "caution" } as const;

function ToastCard({ toast }: { readonly toast: Toast }) {
  const t = useTexts();
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld || toast.durationMs === Infinity) return;
    const timer = setTimeout(() => dismissToast(toast.id), toast.durationMs);
    return () => clearTimeout(timer);
  }, [isHeld, toast]);
  return (
    <Flex
      role={toast.kind === "error" ? "alert" : "status"}
      data-toast=""
      pointerEvents="auto"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      gap="3"
      align="flex-start"
      bg="bg.panel"
      borderWidth="1px"
      borderColor="border.emphasized"
      borderRadius="l3"
      boxShadow="md"
      px="3"
      py="2.5"
      animationName="slide-from-bottom, fade-in"
      animationDuration="180ms"
    >
      <Box pt="3px">
        <MarkShape kind={SHAPE[toast.kind]} size={14} />
      </Box>
      <Box flex="1" minW="0">
        <Text overflowWrap="anywhere">
          {toast.text}
          {toast.count > 1 && <Text as="span" color="fg.muted">{` ×${toast.count}`}</Text>}
        </Text>
        {toast.detail !== undefined && (
          <Text textStyle="xs" color="fg.muted">
            {toast.detail}
          </Text>
        )}
      </Box>
      {toast.action && (
        <Button
          size="xs"
          variant="outline"
          onClick={() => {
            toast.action?.run();
            dismissToast(toast.id);
          }}
        >
          {toast.action.label}
        </Button>
      )}
      <IconButton label={t("close")} onClick={() => dismissToast(toast.id)} size="xs">
        <Icon name="close" size={14} />
      </IconButton>
    </Flex>
  );
}

/**
 * Shows toasts bottom right, on phones at the top. It is a sibling of the dialogs: while one is open,
 * `data-live-announcer` makes the toasts available to screen readers, and their cards can be clicked.
 */
export function ToastRegion() {
  const shown = useStore(toasts);
  return createPortal(
    <Flex
      data-live-announcer=""
      direction="column"
      gap="2"
      position="fixed"
      zIndex="toast"
      insetInlineEnd="4"
      insetInlineStart={{ base: "4", sm: "auto" }}
      bottom={{ base: "auto", sm: "4" }}
      top={{ base: "4", sm: "auto" }}
      width={{ base: "auto", sm: "380px" }}
      pointerEvents="none"
    >
      {shown.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </Flex>,
    document.body,
  );
}
