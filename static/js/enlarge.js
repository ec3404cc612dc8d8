// Enlarges the drawings of a pair to practise on; nothing else happens there without a form.
import { listenForEnlarging } from "./judge_enlarge.js";

listenForEnlarging(document.getElementById("stage"));
