/** Id of the place beside the page where the shell docks the detail drawer. */
export const DOCK = "detail";
