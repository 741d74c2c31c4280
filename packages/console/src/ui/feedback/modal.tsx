import { Dialog, Portal, Text, type DialogBodyProps, type DialogRootProps } from "@chakra-ui/react";
import type { ReactNode } from "react";
import { Icon } from "../display/icon.tsx";
import { IconButton } from "../display/icon-button.tsx";
import { useTexts } from "../texts.ts";
import { stayForToasts } from "./outside.ts";

type RootProps = Pick<
  DialogRootProps,
  "role" | "size" | "closeOnEscape" | "closeOnInteractOutside" | "initialFocusEl" | "scrollBehavior"
>;

export interface ModalProps extends RootProps {
  readonly title: ReactNode;
  /** Shown before the title. */
  readonly mark?: ReactNode;
  /** A sentence above the rest. */
  readonly lead?: string;
  /** Without buttons at the bottom, a cross next to the title closes the dialog. */
  readonly footer?: ReactNode;
  readonly hasCross?: boolean;
  readonly isOpen?: boolean;
  readonly maxW?: string;
  readonly body?: DialogBodyProps;
  readonly children: ReactNode;
  onClose(): void;
}

/** A dialog over the page: title, content and buttons. */
export function Modal(props: ModalProps) {
  const { title, mark, lead, footer, hasCross, isOpen = true, maxW, body, children, onClose, ...root } = props;
  const t = useTexts();
  return (
    <Dialog.Root
      open={isOpen}
      onOpenChange={(change) => !change.open && onClose()}
      onInteractOutside={stayForToasts}
      placement="center"
      {...root}
    >
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content {...(maxW !== undefined && { maxW })}>
            <Dialog.Header>
              {mark}
              <Dialog.Title flex="1">{title}</Dialog.Title>
              {hasCross === true && (
                <IconButton label={t("close")} hasTip={false} onClick={onClose}>
                  <Icon name="close" />
                </IconButton>
              )}
            </Dialog.Header>
            <Dialog.Body {...body}>
              {lead !== undefined && (
                <Text color="fg.muted" mb="3">
                  {lead}
                </Text>
              )}
              {children}
            </Dialog.Body>
            {footer !== undefined && <Dialog.Footer>{footer}</Dialog.Footer>}
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
