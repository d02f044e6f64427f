# Completion of the crisol command for fish.
complete -c crisol -f -a '(set -l typed (commandline -opc); $typed[1] complete -- $typed[2..] 2>/dev/null)'
