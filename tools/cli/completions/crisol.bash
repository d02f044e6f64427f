# Completion of the crisol command for bash.
_crisol() {
  mapfile -t COMPREPLY < <(compgen -W "$("$1" complete -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "$2")
  if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _crisol crisol
