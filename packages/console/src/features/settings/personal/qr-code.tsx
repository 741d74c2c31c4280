import { Box, QrCode } from "@chakra-ui/react";

/** Drawn in the browser, so that the secret goes nowhere else. Dark on white in both themes, as cameras expect. */
export function Qr(props: { readonly text: string; readonly label: string }) {
  return (
    <Box role="img" aria-label={props.label} bg="white" color="black" p="3" borderRadius="l2" width="fit-content">
      <QrCode.Root value={props.text} encoding={{ ecc: "M" }} unstyled>
        <QrCode.Frame display="block" width="180px" height="180px" fill="currentColor" aria-hidden="true">
          <QrCode.Pattern />
        </QrCode.Frame>
      </QrCode.Root>
    </Box>
  );
}
